// The runs that lie in a folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trainwarden/status.h"

namespace trainwarden::views {

// Of ours, or one that smdebug wrote.
bool is_run(const std::filesystem::path& folder);

// The names of the runs in `folder`, sorted. kNotFound when there is no such folder; the message says how to make one.
Result<std::vector<std::string>> list_runs(const std::filesystem::path& folder);

}  // namespace trainwarden::views
