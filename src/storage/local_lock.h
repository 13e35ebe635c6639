// Locks of LocalStorage: files that hold the id of the process that has them locked.
#pragma once

#include <memory>
#include <string>

#include "storage/storage.h"

namespace trainwarden::storage {

// Full paths here. Errors as in storage.h.
Result<std::unique_ptr<Lock>> lock_local_file(const std::string& path);
bool local_file_locked(const std::string& path);

}  // namespace trainwarden::storage
