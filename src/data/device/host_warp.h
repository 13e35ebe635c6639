// The kernel of statistics_kernel.h on the CPU: a warp is an array of lanes that take turns.
#pragma once

#include <cstdint>
#include <span>

#include "data/device/statistics_kernel.h"

namespace trainwarden::device {

class HostWarp {
 public:
  template <class Function>
  void each(Function function) {
    for (U32 index = 0; index < kLanes; ++index) function(lanes_[index], index);
  }
  template <class Function>
  U32 max(Function function) const {
    U32 value = 0;
    for (const WarpLane& lane : lanes_) value = larger(value, static_cast<U32>(function(lane)));
    return value;
  }
  template <class Function>
  I64 sum(Function function) const {
    I64 value = 0;
    for (const WarpLane& lane : lanes_) value += function(lane);
    return value;
  }
  void add(U64& to, U64 value) const { to += value; }
  void raise(U32& to, U32 value) const { to = larger(to, value); }

 private:
  WarpLane lanes_[kLanes] = {};
};

// What one launch of the kernel does.
inline void summarize_on_host(std::span<const TensorTask> tasks, std::uint32_t part_count, RawStatistics* raw) {
  HostWarp warp;
  for (std::uint32_t part = 0; part < part_count; ++part) {
    const U32 task = find_task(tasks.data(), static_cast<U32>(tasks.size()), part);
    summarize_part(warp, tasks[task], part, raw[task]);
  }
}

}  // namespace trainwarden::device
