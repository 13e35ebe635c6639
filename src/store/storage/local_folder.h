// What lies in a folder of LocalStorage, and what is known of it without reading it.
#pragma once

#include <string>
#include <vector>

#include "store/storage/beneath.h"
#include "store/storage/storage.h"

namespace trainwarden::storage {

// Paths beneath the storage's root. Errors as in storage.h.
Result<std::vector<std::string>> list_local_folder(const Beneath& beneath, const std::string& path);
Result<std::vector<Entry>> local_entries(const Beneath& beneath, const std::string& path);
Result<FileInfo> local_info(const Beneath& beneath, const std::string& path);

}  // namespace trainwarden::storage
