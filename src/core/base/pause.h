// pause_for: waits a little, and not longer than it is worth.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>

namespace trainwarden {

// Returns after `interval`, or as soon as `stop` is asked for.
inline void pause_for(std::chrono::milliseconds interval, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, interval, [] { return false; });
}

}  // namespace trainwarden
