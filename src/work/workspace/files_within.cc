#include "work/workspace/files_within.h"

#include <system_error>

#include <fmt/format.h>

#include "core/base/text.h"

namespace trainwarden::workspace {

namespace fs = std::filesystem;

Result<std::vector<fs::path>> files_within(const fs::path& folder, std::size_t max_files) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (at->is_symlink(ignored) || !at->is_regular_file(ignored)) continue;
    files.push_back(at->path().lexically_relative(folder));
    if (files.size() > max_files) {
      return Status(Code::kResourceExhausted,
                    fmt::format("{} has more than {} files", printable(folder.string()), max_files));
    }
  }
  if (!error) return files;
  return Status(Code::kInternal, fmt::format("cannot list {}: {}", printable(folder.string()), error.message()));
}

}  // namespace trainwarden::workspace
