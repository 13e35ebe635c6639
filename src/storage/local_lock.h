// Locks of LocalStorage: files that hold the id of the process that has them locked.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "storage/storage.h"

namespace trainwarden::storage {

// Full paths here. Errors as in storage.h.
Result<std::unique_ptr<Lock>> lock_local_file(const std::string& path);
bool local_file_locked(const std::string& path);
std::optional<std::int64_t> local_lock_holder(const std::string& path);

}  // namespace trainwarden::storage
