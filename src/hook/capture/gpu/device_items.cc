#include "hook/capture/gpu/device_items.h"

#include <cstring>
#include <utility>
#include <vector>

#include "trainwarden/statistics.h"

namespace trainwarden::capture {
namespace {

// The elements in row-major order, at the beginning of the item's memory.
Status pack_in_place(const TensorView& on_host, MutableByteSpan memory) {
  std::vector<std::byte> packed(on_host.packed_bytes());
  TRAINWARDEN_RETURN_IF_ERROR(copy_packed(on_host, packed.data()));
  std::memcpy(memory.data(), packed.data(), packed.size());
  return Status();
}

Status take_copy(const DeviceItem& item, StagedStep& step) {
  const TensorView on_host = device::view_of_copy(item.view, item.span, item.memory.data());
  if ((item.form & kValuesBit) == 0) {
    add_statistics(step, item.id, on_host, item.form);
    return Status();
  }
  if (!on_host.contiguous) TRAINWARDEN_RETURN_IF_ERROR(pack_in_place(on_host, item.memory));
  StagedTensor tensor;
  tensor.id = item.id;
  tensor.dtype = item.view.dtype;
  tensor.shape = item.view.shape;
  tensor.data = item.memory.first(on_host.packed_bytes());
  tensor.statistics = item.form & kAnyStatisticsBits;
  step.tensors.push_back(std::move(tensor));
  return Status();
}

Status take(const DeviceItem& item, StagedStep& step) {
  TRAINWARDEN_RETURN_IF_ERROR(item.outcome);
  if (!item.memory.empty()) return take_copy(item, step);
  step.statistics.push_back({.id = item.id,
                             .dtype = item.view.dtype,
                             .shape = item.view.shape,
                             .statistics = item.reader->statistics(item.read)});
  return Status();
}

}  // namespace

void await_device_items(std::vector<DeviceItem>& items) {
  for (DeviceItem& item : items) item.outcome = item.reader->wait(item.read.ticket);
}

void settle_device_items(StagedStep& step, SharedLossTally& losses) {
  // For all of them first: while one is under way, nothing may happen that could end in giving up the step's memory.
  await_device_items(step.device_items);
  for (const DeviceItem& item : step.device_items) {
    const Status status = item.form == 0 ? Status() : take(item, step);
    if (status.ok()) continue;
    const auto message = [&] { return status.message(); };
    step.losses.add(LossCause::kDeviceFailed, 1, item.memory.size(), message);
    losses.add(LossCause::kDeviceFailed, 1, item.memory.size(), message);
  }
  step.device_items.clear();
}

}  // namespace trainwarden::capture
