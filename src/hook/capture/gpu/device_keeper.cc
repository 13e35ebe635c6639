#include "hook/capture/gpu/device_keeper.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "hook/capture/gpu/device_items.h"

namespace trainwarden::capture {
namespace {

LossCause cause_of(const Status& status) {
  switch (status.code()) {
    case Code::kResourceExhausted: return LossCause::kStagingFull;
    case Code::kInternal: return LossCause::kDeviceFailed;
    default: return LossCause::kUnsupported;
  }
}

}  // namespace

bool DeviceKeeper::keep(TensorEntry& entry, FormBits form, const TensorView& view) {
  const Result<device::DeviceReader*> reader = devices_.reader_of(view.device);
  if (!reader.ok()) {
    lose_unread(entry, view.packed_bytes(), reader.status());
    return true;
  }
  if (view.element_count() == 0) return false;
  const Result<device::DeviceSpan> span = device::span_of(view);
  if (!span.ok()) {
    lose_unread(entry, view.packed_bytes(), span.status());
    return true;
  }
  const DeviceItem item{.form = form, .view = view, .span = *span, .reader = *reader};
  intake_.keep_in_form(
      form, [&] { return keep_values(entry, item); }, [&] { keep_statistics(entry, item); },
      [&] { intake_.add_shape(entry, view.dtype, view.shape); });
  return true;
}

// False: the loss has been counted.
bool DeviceKeeper::keep_values(TensorEntry& entry, DeviceItem item) {
  const std::size_t packed_bytes = item.view.packed_bytes();
  if (const Status pinned = devices_.pin_staging_for(item.view.device); !pinned.ok()) {
    lose_unread(entry, packed_bytes, pinned);
    return false;
  }
  // An expanded tensor is larger than the memory it lies in.
  auto slot = intake_.claim(entry, std::max(item.span.bytes, packed_bytes));
  if (!slot) return false;
  item.memory = slot->memory();
  Result<device::Ticket> ticket =
      item.reader->copy(item.span.address, item.memory.first(item.span.bytes), item.view.stream, intake_.may_wait());
  if (!ticket.ok()) {
    lose_unread(entry, packed_bytes, ticket.status());
    return false;
  }
  item.read.ticket = *std::move(ticket);
  add(entry, std::move(item));
  return true;
}

// Histograms, hashes, and elements that the kernel cannot read, are left to the writer thread, which gets a copy.
void DeviceKeeper::keep_statistics(TensorEntry& entry, DeviceItem item) {
  item.form = (item.form & kAnyStatisticsBits) | kStatisticsBit;
  const bool on_device = item.span.dense && item.reader->summarizes(item.view.dtype, item.span.address);
  if (item.form != kStatisticsBit || !on_device) {
    keep_values(entry, std::move(item));
    return;
  }
  const auto count = static_cast<std::uint64_t>(item.view.element_count());
  Result<device::StatisticsRead> read = Status(Code::kUnknown, "not tried");
  intake_.take_room([&] {
    read = item.reader->read_statistics(item.span.address, count, item.view.dtype, item.view.stream);
    return read.status().code() != Code::kResourceExhausted;
  });
  if (!read.ok()) return lose_unread(entry, 0, read.status());
  item.read = *std::move(read);
  add(entry, std::move(item));
}

void DeviceKeeper::add(TensorEntry& entry, DeviceItem item) {
  if (intake_.add(entry, item.memory.size(), [&] { return intake_.step().add_device_item(entry, item); })) return;
  item.form = 0;
  intake_.step().await_device_item(std::move(item));
}

void DeviceKeeper::lose_unread(const TensorEntry& entry, std::uint64_t bytes, const Status& status) {
  intake_.lose(cause_of(status), 1, bytes,
               [&] { return fmt::format("{}: {}", printable(entry.name), status.message()); });
}

void DeviceKeeper::settle_open_step() {
  devices_.end_group();
  bool any = false;
  intake_.step().look_into([&](StagedStep& step) {
    any = !step.device_items.empty();
    await_device_items(step.device_items);
  });
  if (any) intake_.step().with_open_step([&](StagedStep& step) { settle_device_items(step, intake_.losses()); });
}

}  // namespace trainwarden::capture
