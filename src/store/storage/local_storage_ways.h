// LocalStorage that goes through its paths in the way that a test wants, whatever the system can.
#pragma once

#include <filesystem>
#include <memory>

#include "store/storage/beneath.h"
#include "store/storage/storage.h"

namespace trainwarden::storage {

std::unique_ptr<Storage> open_local_storage(const std::filesystem::path& root, Beneath::Way way);

}  // namespace trainwarden::storage
