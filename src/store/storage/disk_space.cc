#include "store/storage/disk_space.h"

#include <sys/statvfs.h>

namespace trainwarden::storage {

std::optional<DiskSpace> disk_space(const std::filesystem::path& folder) {
  struct statvfs found {};
  if (::statvfs(folder.c_str(), &found) != 0) return std::nullopt;
  const std::uint64_t block = found.f_frsize;
  // Some network file systems know no size; they are never full, for all that can be seen.
  if (found.f_blocks == 0) return std::nullopt;
  return DiskSpace{block * found.f_bavail, block * found.f_blocks};
}

}  // namespace trainwarden::storage
