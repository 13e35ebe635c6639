// Files of a run that are none of its journals, from one storage to another.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "store/storage/storage.h"
#include "trainwarden/status.h"

namespace trainwarden::upkeep {

// To the same path, whose folder is there. What was written is on the medium when it returns.
Status copy_file(const storage::Storage& from, const std::string& path, storage::Storage& to);

// All files in a folder and in those in it, links left out. How many there were; kNotFound when there is no such
// folder, kResourceExhausted for more than a run can have. `progress` is told each path.
Result<std::uint64_t> copy_files(const storage::Storage& from, const std::string& folder, storage::Storage& to,
                                 const std::function<void(const std::string&)>& progress = {});

}  // namespace trainwarden::upkeep
