// What lies at a path of this machine that a user has named: links on the way are the user's own word and are followed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "trainwarden/status.h"

namespace trainwarden::storage {

struct LocalPlace {
  enum class Kind { kNothing, kFile, kFolder, kOther };
  Kind kind = Kind::kNothing;
  std::filesystem::path path;  // absolute, without links as far as it is there
};

// Errors of the file system, but for that nothing is there.
Result<LocalPlace> find_local_place(const std::filesystem::path& path);

// How much may still be written where it will lie; nothing: nobody knows.
std::optional<std::uint64_t> free_bytes_at(const std::filesystem::path& path);

}  // namespace trainwarden::storage
