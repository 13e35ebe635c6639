#include "ui/cli/options/run_locator.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include <unistd.h>

#include <fmt/format.h>

#include "core/base/text.h"

namespace trainwarden::cli {

std::string left_out_note(const LocatedRuns& located) {
  constexpr std::size_t kMostNames = 5;
  const std::size_t count = located.plain_files.size();
  if (count == 0) return {};
  std::string names;
  for (std::size_t i = 0; i < std::min(count, kMostNames); ++i) {
    names += (i == 0 ? "" : ", ") + printable(located.plain_files[i]);
  }
  return fmt::format("{} no run{} and {} left out: {}{}",
                     count == 1 ? "a plain file is" : fmt::format("{} plain files are", count), count == 1 ? "" : "s",
                     count == 1 ? "was" : "were", names, count > kMostNames ? ", ..." : "");
}

std::string typed_run(const std::filesystem::path& run, const Environment& environment) {
  std::error_code ignored;
  const bool found_by_name = std::filesystem::equivalent(run.parent_path(), runs_folder("", environment), ignored);
  return found_by_name ? run_name(run) : printable(run.string());
}

std::string typed_program() {
  const std::filesystem::path started = program_invocation_name;
  if (!started.has_parent_path()) return printable(started.string());
  const char* const folders = std::getenv("PATH");
  const std::string name = started.filename().string();
  for (std::string_view left = folders == nullptr ? "" : folders; !left.empty();) {
    const std::size_t end = std::min(left.find(':'), left.size());
    const std::filesystem::path found = std::filesystem::path(left.substr(0, end)) / name;
    std::error_code error;
    if (::access(found.c_str(), X_OK) == 0) {
      return printable(std::filesystem::equivalent(found, started, error) ? name : started.string());
    }
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return printable(started.string());
}

}  // namespace trainwarden::cli
