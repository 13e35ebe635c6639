// Locks of LocalStorage: files that hold the id of the process that has them locked.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "store/storage/beneath.h"
#include "store/storage/storage.h"

namespace trainwarden::storage {

// Paths beneath the storage's root. Errors as in storage.h. The holder's id is written into no file but one that can
// only be a lock's: a regular one with a single name, in which nothing lies but a process id.
Result<std::unique_ptr<Lock>> lock_local_file(const Beneath& beneath, const std::string& path);
bool local_file_locked(const Beneath& beneath, const std::string& path);
std::optional<std::int64_t> local_lock_holder(const Beneath& beneath, const std::string& path);

}  // namespace trainwarden::storage
