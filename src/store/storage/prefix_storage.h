// A folder inside a storage, as a storage of its own.
#pragma once

#include <memory>
#include <string>

#include "store/storage/storage.h"

namespace trainwarden::storage {

// Its root is the folder `prefix` of `base`, which need not exist yet.
std::shared_ptr<Storage> create_prefix_storage(std::shared_ptr<Storage> base, std::string prefix);

}  // namespace trainwarden::storage
