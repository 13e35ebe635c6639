// RunMark: what tells cheaply that the run in a folder may have become another one.
#pragma once

#include <cstdint>
#include <filesystem>

namespace trainwarden::views {

// Of run.json, which is written once; of the folder itself where there is none. Two that are equal are of one run. Of
// two that differ the run may still be the same: who cares opens it and compares identities.
struct RunMark {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t changed_ns = 0;
  friend bool operator==(const RunMark&, const RunMark&) = default;
};

// All zero when nothing is there.
RunMark mark_of(const std::filesystem::path& folder);

}  // namespace trainwarden::views
