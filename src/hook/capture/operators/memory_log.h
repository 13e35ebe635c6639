// MemoryLog: how much memory was in use while a window is open, on its way to the thread that collects it.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "trainwarden/operator_calls.h"

namespace trainwarden::capture {

// Any thread, under a lock: some hundred times a second.
class MemoryLog {
 public:
  static constexpr std::size_t kMaxChanges = std::size_t{1} << 16;  // that wait to be collected; the rest is left out
  static constexpr std::size_t kMaxDevices = 256;

  // A window begins. What is left of the one before is thrown away.
  void open();
  // What is as it was before is not kept.
  void add(std::int64_t unix_ns, std::int32_t device, std::int64_t total_bytes) noexcept;
  // By time.
  std::vector<MemoryChange> take();

 private:
  std::mutex mutex_;  // guards the rest
  std::map<std::int32_t, std::int64_t> totals_;
  std::vector<MemoryChange> changes_;
};

}  // namespace trainwarden::capture
