// A storage that nobody can reach: each call says why.
#pragma once

#include <memory>

#include "store/storage/storage.h"

namespace trainwarden::storage {

std::shared_ptr<Storage> create_unreachable_storage(Status why);

}  // namespace trainwarden::storage
