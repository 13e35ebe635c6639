// Files of LocalStorage.
#pragma once

#include <memory>
#include <string>

#include "storage/storage.h"

namespace trainwarden::storage {

// Full paths here. Errors as in storage.h.
Result<std::unique_ptr<WritableFile>> create_local_file(const std::string& path);
Result<std::unique_ptr<ReadableFile>> open_local_file(const std::string& path);

// Makes the names in a folder last.
Status sync_local_folder(const std::string& path);

}  // namespace trainwarden::storage
