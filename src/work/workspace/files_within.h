// The files in a folder and in the folders of it.
#pragma once

#include <filesystem>
#include <vector>

#include "trainwarden/status.h"

namespace trainwarden::workspace {

// Their paths within the folder, in no order. Links are left out and not followed. kResourceExhausted when there are
// more.
Result<std::vector<std::filesystem::path>> files_within(const std::filesystem::path& folder, std::size_t max_files);

}  // namespace trainwarden::workspace
