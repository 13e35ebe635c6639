// CaptureSwitch: whether a hook still keeps anything, and why not.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <utility>

#include "trainwarden/hook.h"

namespace trainwarden::capture {

// From any thread.
class CaptureSwitch {
 public:
  bool is_on() const { return on_.load(std::memory_order_relaxed); }

  // For good. The reason of the first call stays.
  void switch_off(std::string reason) {
    std::lock_guard lock(mutex_);
    if (!on_.exchange(false)) return;
    reason_ = std::move(reason);
  }

  void add_to(HookReport& report) const {
    std::lock_guard lock(mutex_);
    report.on = on_;
    report.off_reason = reason_;
  }

 private:
  std::atomic<bool> on_ = true;
  mutable std::mutex mutex_;
  std::string reason_;  // guarded by mutex_
};

}  // namespace trainwarden::capture
