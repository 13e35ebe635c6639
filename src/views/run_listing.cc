#include "views/run_listing.h"

#include <algorithm>
#include <system_error>

#include <fmt/format.h>

#include "storage/local_storage.h"
#include "store/run_folder.h"
#include "trial/smdebug/smdebug_source.h"

namespace trainwarden::views {

namespace fs = std::filesystem;

bool is_run(const fs::path& folder) {
  const auto storage = storage::open_local_storage(folder);
  return storage->exists(store::kRunFile) || trial::holds_smdebug_run(*storage);
}

Result<std::vector<std::string>> list_runs(const fs::path& folder) {
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  if (error) {
    return Status(Code::kNotFound, fmt::format("no folder of runs at {} ({}); start one with `trainwarden run -- "
                                               "PROGRAM`, or name another folder with --runs or TRAINWARDEN_RUNS",
                                               folder.string(), error.message()));
  }
  std::vector<std::string> names;
  for (; entries != fs::directory_iterator(); entries.increment(error)) {
    if (error) break;
    if (is_run(entries->path())) names.push_back(entries->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace trainwarden::views
