// What the file system of a folder has left.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace trainwarden::storage {

struct DiskSpace {
  std::uint64_t free_bytes = 0;   // that this user may still write
  std::uint64_t total_bytes = 0;  // of the whole file system
};

// Nothing where that cannot be seen, and of folders that are not there.
std::optional<DiskSpace> disk_space(const std::filesystem::path& folder);

}  // namespace trainwarden::storage
