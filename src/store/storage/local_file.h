// Files of LocalStorage.
#pragma once

#include <memory>
#include <string>

#include "store/storage/beneath.h"
#include "store/storage/storage.h"

namespace trainwarden::storage {

// Paths beneath the storage's root. Errors as in storage.h.
Result<std::unique_ptr<WritableFile>> create_local_file(const Beneath& beneath, const std::string& path);
Result<std::unique_ptr<ReadableFile>> open_local_file(const Beneath& beneath, const std::string& path);
// As Storage::read(). Who follows a folder of small files spends most of its time here: one system call less than by
// open_local_file() counts.
Result<std::string> read_local_file(const Beneath& beneath, const std::string& path, std::uint64_t limit_bytes);

}  // namespace trainwarden::storage
