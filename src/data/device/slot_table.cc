#include "data/device/slot_table.h"

#include <utility>

namespace trainwarden::device {

// Both are plain numbers, for which zeroed pages are as good as constructed.
SlotTable::SlotTable(HostRegion region, std::uint32_t slot_count)
    : region_(std::move(region)),
      raw_(reinterpret_cast<RawStatistics*>(region_.memory().data())),
      tasks_(reinterpret_cast<TensorTask*>(raw_ + slot_count)),
      ring_(slot_count) {}

Result<std::unique_ptr<SlotTable>> SlotTable::create(Accelerator& accelerator, std::uint32_t slot_count) {
  const std::size_t raw_bytes = slot_count * sizeof(RawStatistics);
  const std::size_t task_bytes = slot_count * sizeof(TensorTask);
  TRAINWARDEN_ASSIGN_OR_RETURN(HostRegion region, HostRegion::create(raw_bytes + task_bytes));
  std::unique_ptr<SlotTable> table(new SlotTable(std::move(region), slot_count));
  TRAINWARDEN_ASSIGN_OR_RETURN(table->device_raw_, accelerator.allocate(raw_bytes));
  TRAINWARDEN_ASSIGN_OR_RETURN(table->device_tasks_, accelerator.allocate(task_bytes));
  // Last: what is pinned must stay.
  TRAINWARDEN_RETURN_IF_ERROR(accelerator.pin(table->region_.memory()));
  return table;
}

std::optional<RingAllocator::Range> SlotTable::take() {
  std::lock_guard lock(mutex_);
  return ring_.take(1);
}

void SlotTable::give_back(std::uint64_t number) {
  std::lock_guard lock(mutex_);
  ring_.give_back(number);
}

Status SlotTable::queue_launch(Accelerator& accelerator, std::size_t first, std::uint32_t count,
                               std::uint32_t part_count, Stream stream) const {
  const DeviceAddress tasks = device_tasks_ + first * sizeof(TensorTask);
  const DeviceAddress raw = device_raw_ + first * sizeof(RawStatistics);
  TRAINWARDEN_RETURN_IF_ERROR(accelerator.copy_to_device(tasks, &tasks_[first], count * sizeof(TensorTask), stream));
  TRAINWARDEN_RETURN_IF_ERROR(accelerator.clear(raw, count * sizeof(RawStatistics), stream));
  return accelerator.summarize(tasks, count, part_count, raw, stream);
}

Status SlotTable::queue_results(Accelerator& accelerator, std::size_t first, std::uint32_t count, Stream stream) {
  const DeviceAddress raw = device_raw_ + first * sizeof(RawStatistics);
  return accelerator.copy_to_host(&raw_[first], raw, count * sizeof(RawStatistics), stream);
}

}  // namespace trainwarden::device
