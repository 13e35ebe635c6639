// A signal to the process that holds a lock, and to no other one.
#pragma once

#include <cstdint>
#include <string>

#include "store/storage/storage.h"
#include "trainwarden/status.h"

namespace trainwarden::storage {

// To `process`, if it is the holder of this lock (Storage::lock_holder()). kNotFound when it is not, or not any more;
// kPermissionDenied when it is another user's; kFailedPrecondition when it is this process itself.
Status signal_lock_holder(const Storage& storage, const std::string& lock, std::int64_t process, int signal_number);

}  // namespace trainwarden::storage
