// The sources of a job as they were when it was submitted, so that it runs these, whatever becomes of them meanwhile.
#pragma once

#include <filesystem>
#include <vector>

#include "trainwarden/status.h"

namespace trainwarden::workspace {

inline constexpr std::uint64_t kMaxCodeBytes = std::uint64_t{256} << 20;
inline constexpr std::size_t kMaxCodeFiles = 20'000;

// Copies what is in `source`, and each of `dependencies` as a folder with its name, into `target`, which must not be
// there. Left out: .git, __pycache__, and what is neither file, folder nor link; links are copied as links.
// kResourceExhausted when it is more than the limits; then, and on other errors, nothing is left behind.
Status copy_code(const std::filesystem::path& source, const std::vector<std::filesystem::path>& dependencies,
                 const std::filesystem::path& target);

}  // namespace trainwarden::workspace
