#include "views/run_mark.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "store/run_folder.h"

namespace trainwarden::views {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

// A folder changes with each file in it; of its own it has only the time of its birth, where the file system knows it.
std::int64_t birth_ns(const std::filesystem::path& folder) {
  struct statx status {};
  if (statx(AT_FDCWD, folder.c_str(), 0, STATX_BTIME, &status) != 0 || (status.stx_mask & STATX_BTIME) == 0) return 0;
  return status.stx_btime.tv_sec * kNsPerSecond + status.stx_btime.tv_nsec;
}

}  // namespace

RunMark mark_of(const std::filesystem::path& folder) {
  struct stat status {};
  if (stat((folder / store::kRunFile).c_str(), &status) == 0) {
    return {status.st_dev, status.st_ino, status.st_ctim.tv_sec * kNsPerSecond + status.st_ctim.tv_nsec};
  }
  if (stat(folder.c_str(), &status) != 0) return {};
  return {status.st_dev, status.st_ino, birth_ns(folder)};
}

}  // namespace trainwarden::views
