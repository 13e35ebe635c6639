// LocalStorage: a folder of the local file system. Symbolic links in it are neither followed nor listed.
#pragma once

#include <filesystem>
#include <memory>

#include "store/storage/storage.h"

namespace trainwarden::storage {

// The root need not exist yet.
std::unique_ptr<Storage> open_local_storage(const std::filesystem::path& root);

}  // namespace trainwarden::storage
