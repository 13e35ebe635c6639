#include "hook/capture/operators/memory_log.h"

#include <algorithm>
#include <utility>

namespace trainwarden::capture {

void MemoryLog::open() {
  const std::lock_guard lock(mutex_);
  totals_.clear();
  changes_.clear();
}

// The first of a device is no change: what there was before is not known.
void MemoryLog::add(std::int64_t unix_ns, std::int32_t device, std::int64_t total_bytes) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    const auto known = totals_.find(device);
    if (changes_.size() == kMaxChanges || (known == totals_.end() && totals_.size() == kMaxDevices)) return;
    const std::int64_t bytes = known == totals_.end() ? 0 : total_bytes - known->second;
    if (known != totals_.end() && bytes == 0) return;
    changes_.push_back({.unix_ns = unix_ns, .bytes = bytes, .total_bytes = total_bytes, .device = device});
    totals_[device] = total_bytes;
  } catch (...) {
    // No memory, or no lock: the next one says it.
  }
}

// Two threads may have read the clock in the other order than they came here.
std::vector<MemoryChange> MemoryLog::take() {
  const std::lock_guard lock(mutex_);
  std::vector<MemoryChange> taken = std::exchange(changes_, {});
  std::stable_sort(taken.begin(), taken.end(),
                   [](const MemoryChange& a, const MemoryChange& b) { return a.unix_ns < b.unix_ns; });
  return taken;
}

}  // namespace trainwarden::capture
