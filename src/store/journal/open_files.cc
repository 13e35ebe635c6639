#include "store/journal/open_files.h"

#include <sys/resource.h>

#include <algorithm>

#include "store/journal/segment_file.h"

namespace trainwarden::journal {
namespace {

constexpr std::size_t kLeast = 16;
constexpr std::size_t kMost = 16'384;

std::size_t half_of_what_is_allowed() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return kLeast;
  return std::clamp<std::size_t>(limit.rlim_cur / 2, kLeast, kMost);
}

}  // namespace

OpenFiles::OpenFiles() : most_(half_of_what_is_allowed()) {}

OpenFiles::Turn OpenFiles::add(SegmentFile& file) {
  while (!turns_.empty() && turns_.size() >= most_) turns_.back()->close();  // which removes it
  turns_.push_front(&file);
  return turns_.begin();
}

}  // namespace trainwarden::journal
