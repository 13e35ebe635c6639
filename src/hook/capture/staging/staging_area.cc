#include "hook/capture/staging/staging_area.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include <fmt/format.h>

#include "core/base/text.h"

namespace trainwarden::capture {
namespace {

constexpr std::size_t kSlotAlignment = 64;
constexpr std::size_t kStagingPageBytes = 4096;
constexpr std::size_t kStagingHugePageBytes = std::size_t{2} << 20;
// A step takes a chunk at least: where thousands of small ones wait for the writer, as many chunks are taken.
constexpr std::size_t kMaxChunkBytes = std::size_t{64} << 10;
constexpr std::size_t kMaxChunks = 16384;
constexpr std::size_t kLeastAccountBytes = std::size_t{1} << 20;
constexpr std::size_t kWarmStepBytes = std::size_t{8} << 20;   // touched at once, when more is needed
constexpr std::size_t kGiveBackBytes = std::size_t{16} << 20;  // at once: a training thread may wait for it

std::size_t chunk_bytes_for(std::size_t limit_bytes) {
  const std::size_t wanted = std::max(std::min(limit_bytes / 64, kMaxChunkBytes), limit_bytes / kMaxChunks);
  return align_up(std::max(wanted, kStagingPageBytes), kStagingPageBytes);
}

// Makes the pages real. MADV_POPULATE_WRITE (Linux 5.14) does it without touching; elsewhere each page is touched.
void populate(std::byte* begin, std::size_t bytes) {
#ifdef MADV_POPULATE_WRITE
  if (::madvise(begin, bytes, MADV_POPULATE_WRITE) == 0) return;
  if (errno == ENOMEM) throw std::bad_alloc();
#endif
  for (std::size_t offset = 0; offset < bytes; offset += kStagingPageBytes) {
    *const_cast<volatile std::byte*>(begin + offset) = std::byte{0};
  }
}

}  // namespace

Result<std::unique_ptr<StagingArea>> StagingArea::create(std::size_t limit_bytes, Growth growth) {
  const std::size_t chunk_bytes = chunk_bytes_for(limit_bytes);
  const std::size_t chunk_count = std::max<std::size_t>(limit_bytes / chunk_bytes, 1);
  const std::size_t bytes = chunk_bytes * chunk_count;
  void* region = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (region == MAP_FAILED) {
    return Status(Code::kResourceExhausted, fmt::format("no memory for a staging area of {} ({}); make it smaller",
                                                        format_bytes(bytes), std::strerror(errno)));
  }
  // Both are hints: huge pages make the first touch cheaper, and a forked child has no use for the area.
  if (bytes >= kStagingHugePageBytes) static_cast<void>(::madvise(region, bytes, MADV_HUGEPAGE));
  static_cast<void>(::madvise(region, bytes, MADV_DONTFORK));
  return std::unique_ptr<StagingArea>(
      new StagingArea(static_cast<std::byte*>(region), chunk_bytes, chunk_count, std::move(growth)));
}

StagingArea::~StagingArea() {
  ::munmap(region_, capacity_bytes());
}

MutableByteSpan StagingArea::keep_region() {
  std::lock_guard lock(mutex_);
  all_is_kept_ = true;
  return {region_, capacity_bytes()};
}

std::size_t StagingArea::used_bytes() const {
  std::lock_guard lock(mutex_);
  return taken_chunks_ * chunk_bytes_ + charged_bytes_;
}

std::size_t StagingArea::account_bytes() const {
  return std::max(capacity_bytes() / 16, kLeastAccountBytes);
}

std::size_t StagingArea::warm_bytes() const {
  std::lock_guard lock(mutex_);
  return warm_bytes_;
}

std::optional<MutableByteSpan> StagingArea::Share::allocate(std::size_t bytes) {
  if (bytes == 0) return MutableByteSpan();
  if (bytes > area_.capacity_bytes()) return std::nullopt;
  const std::size_t needed = align_up(bytes, kSlotAlignment);
  std::lock_guard lock(area_.mutex_);
  if (!area_.extend(*this, next_ + needed) && !area_.start_run(*this, needed)) return std::nullopt;
  const MutableByteSpan slot(area_.region_ + next_, bytes);
  next_ += needed;
  return slot;
}

bool StagingArea::Share::charge(std::size_t bytes) {
  std::lock_guard lock(area_.mutex_);
  if (area_.charged_bytes_ + bytes > area_.account_bytes()) return false;
  area_.charged_bytes_ += bytes;
  charged_bytes_ += bytes;
  return true;
}

void StagingArea::Share::take_charges_of(Share& other) {
  std::lock_guard lock(area_.mutex_);
  charged_bytes_ += std::exchange(other.charged_bytes_, 0);
}

void StagingArea::Share::hand_over() {
  std::lock_guard lock(area_.mutex_);
  if (handed_over_) return;
  handed_over_ = true;
  ++area_.handed_over_;
}

// Makes the share's last run reach `end`, with the chunks that follow it if need be.
bool StagingArea::extend(Share& share, std::size_t end) {
  if (share.runs_.empty()) return false;
  Share::Run& run = share.runs_.back();
  const std::size_t first = run.first_chunk + run.chunk_count;
  const std::size_t end_chunk = (end + chunk_bytes_ - 1) / chunk_bytes_;
  if (end_chunk <= first) return true;
  if (end_chunk > chunk_count_) return false;
  for (std::size_t i = first; i < end_chunk; ++i) {
    if (taken_[i]) return false;
  }
  if (!take(first, end_chunk - first)) return false;
  run.chunk_count = end_chunk - run.first_chunk;
  return true;
}

bool StagingArea::start_run(Share& share, std::size_t bytes) {
  const std::size_t count = (bytes + chunk_bytes_ - 1) / chunk_bytes_;
  const auto first = find_free(count);
  if (!first) return false;
  share.runs_.reserve(share.runs_.size() + 1);
  if (!take(*first, count)) return false;
  share.runs_.push_back({*first, count});
  share.next_ = *first * chunk_bytes_;
  return true;
}

// The lowest run of so many free chunks.
std::optional<std::size_t> StagingArea::find_free(std::size_t count) const {
  std::size_t free = 0;
  for (std::size_t i = first_free_; i < chunk_count_; ++i) {
    free = taken_[i] ? 0 : free + 1;
    if (free == count) return i + 1 - count;
  }
  return std::nullopt;
}

// False when the system has not the memory to spare.
bool StagingArea::take(std::size_t first_chunk, std::size_t count) {
  const std::size_t end = (first_chunk + count) * chunk_bytes_;
  if (!warm_up_to(end)) return false;
  std::fill_n(taken_.begin() + static_cast<std::ptrdiff_t>(first_chunk), count, true);
  taken_chunks_ += count;
  while (first_free_ < chunk_count_ && taken_[first_free_]) ++first_free_;
  return true;
}

bool StagingArea::warm_up_to(std::size_t end) {
  if (end <= warm_bytes_) return true;
  if (end > growth_.first_bytes && growth_.waits && handed_over_ > 0) return false;
  const std::size_t warm_end = std::min(align_up(end, kWarmStepBytes), capacity_bytes());
  if (end > growth_.first_bytes && !may_grow_by(warm_end - warm_bytes_)) return false;
  populate(region_ + warm_bytes_, warm_end - warm_bytes_);
  warm_bytes_ = warm_end;
  return true;
}

// The training may need more, too: half of what there is stays.
bool StagingArea::may_grow_by(std::size_t bytes) const {
  const auto spare = growth_.spare();
  return !spare || bytes <= *spare / 2;
}

void StagingArea::release(Share& share) {
  {
    std::lock_guard lock(mutex_);
    small_steps_ = std::min(small_steps_ + 1, kStepsUntilGivenBack);
    for (const Share::Run& run : share.runs_) {
      std::fill_n(taken_.begin() + static_cast<std::ptrdiff_t>(run.first_chunk), run.chunk_count, false);
      taken_chunks_ -= run.chunk_count;
      first_free_ = std::min(first_free_, run.first_chunk);
      if ((run.first_chunk + run.chunk_count) * chunk_bytes_ > growth_.first_bytes) small_steps_ = 0;
    }
    charged_bytes_ -= share.charged_bytes_;
    if (share.handed_over_) --handed_over_;
    ++release_count_;
  }
  released_.notify_all();
  while (give_back_a_piece()) {
  }
}

// From the end of what is warm. True: there is more.
bool StagingArea::give_back_a_piece() {
  std::lock_guard lock(mutex_);
  if (all_is_kept_ || small_steps_ < kStepsUntilGivenBack || warm_bytes_ <= growth_.first_bytes) return false;
  const std::size_t begin = std::max(growth_.first_bytes, warm_bytes_ - std::min(warm_bytes_, kGiveBackBytes));
  const auto first = taken_.begin() + static_cast<std::ptrdiff_t>(begin / chunk_bytes_);
  if (std::find(first, taken_.end(), true) != taken_.end()) return false;
  static_cast<void>(::madvise(region_ + begin, warm_bytes_ - begin, MADV_DONTNEED));
  warm_bytes_ = begin;
  return true;
}

std::uint64_t StagingArea::release_count() const {
  std::lock_guard lock(mutex_);
  return release_count_;
}

bool StagingArea::wait_for_release(std::uint64_t release_count_seen) {
  std::unique_lock lock(mutex_);
  released_.wait(lock, [&] { return release_count_ != release_count_seen || handed_over_ == 0 || waiting_ended_; });
  return release_count_ != release_count_seen && !waiting_ended_;
}

void StagingArea::end_waiting() {
  {
    std::lock_guard lock(mutex_);
    waiting_ended_ = true;
  }
  released_.notify_all();
}

}  // namespace trainwarden::capture
