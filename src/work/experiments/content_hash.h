// What lies at a path, as a hash of its content: the same bytes have the same hash, wherever they lie.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "trainwarden/status.h"

namespace trainwarden::experiments {

// What may be read for one hash, so that nobody waits for a data set of terabytes.
struct HashBudget {
  std::uint64_t bytes = std::uint64_t{1} << 30;
  std::size_t files = 10'000;
};

struct ContentHash {
  std::string hash;  // "sha256:" and 64 hexadecimal digits; empty: over the budget, as `note` says
  std::uint64_t bytes = 0;
  std::string note;
};

// Of a file its bytes; of a folder the list of its files, by path, with the hash of each. Links in a folder count by
// their name and are not followed; .git and __pycache__ are left out. kNotFound, kPermissionDenied.
Result<ContentHash> hash_content(const std::filesystem::path& path, const HashBudget& budget);

// 64 hexadecimal digits. kInternal when the system's library has no SHA-256.
Result<std::string> sha256_of(std::string_view bytes);

}  // namespace trainwarden::experiments
