// EventPool: events of an accelerator, to be used again and again.
#pragma once

#include <mutex>
#include <vector>

#include "data/device/accelerator.h"

namespace trainwarden::device {

// May be used by many threads at once.
class EventPool {
 public:
  explicit EventPool(Accelerator& accelerator) : accelerator_(accelerator) {}

  Result<DeviceEvent> take() {
    std::lock_guard lock(mutex_);
    if (idle_.empty()) return accelerator_.create_event();
    DeviceEvent event = idle_.back();
    idle_.pop_back();
    return event;
  }
  void give_back(DeviceEvent event) {
    std::lock_guard lock(mutex_);
    idle_.push_back(event);
  }

 private:
  Accelerator& accelerator_;
  std::mutex mutex_;
  std::vector<DeviceEvent> idle_;
};

}  // namespace trainwarden::device
