// SlotTable: where the kernel finds which tensors to read, and leaves what it gathered, on the GPU and on the host.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "data/device/accelerator.h"
#include "data/device/host_region.h"
#include "data/device/ring_allocator.h"
#include "data/device/statistics_kernel.h"

namespace trainwarden::device {

// Slots are handed out in rising order, in a ring.
class SlotTable {
 public:
  // The host's side is pinned for as long as the accelerator lives, so the table must outlive it.
  static Result<std::unique_ptr<SlotTable>> create(Accelerator& accelerator, std::uint32_t slot_count);

  // From any thread. None when all are taken.
  std::optional<RingAllocator::Range> take();
  void give_back(std::uint64_t number);

  // Whoever has the slot.
  TensorTask& task(std::size_t slot) { return tasks_[slot]; }
  const RawStatistics& raw(std::size_t slot) const { return raw_[slot]; }

  // Lets the kernel read the tasks of slots in a row, which have so many parts together.
  Status queue_launch(Accelerator& accelerator, std::size_t first, std::uint32_t count, std::uint32_t part_count,
                      Stream stream) const;
  Status queue_results(Accelerator& accelerator, std::size_t first, std::uint32_t count, Stream stream);

 private:
  SlotTable(HostRegion region, std::uint32_t slot_count);

  const HostRegion region_;  // holds the two below
  RawStatistics* const raw_;
  TensorTask* const tasks_;
  DeviceAddress device_tasks_ = 0;
  DeviceAddress device_raw_ = 0;
  std::mutex mutex_;
  RingAllocator ring_;  // guarded by mutex_
};

}  // namespace trainwarden::device
