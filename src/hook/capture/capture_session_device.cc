// CaptureSession: tensors that lie on a device, which the training thread only asks to be read.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "hook/capture/capture_session.h"

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

void CaptureSession::save_from_device(TensorEntry& entry, FormBits form, const TensorView& view) {
  const Result<device::DeviceReader*> reader = devices_.reader_of(view.device);
  if (!reader.ok()) return lose_unread(entry, view.packed_bytes(), reader.status());
  if (view.element_count() == 0) {
    TensorView nothing = view;
    nothing.device = Device();
    return save(entry, nothing);
  }
  const Result<device::DeviceSpan> span = device::span_of(view);
  if (!span.ok()) return lose_unread(entry, view.packed_bytes(), span.status());
  const DeviceItem item{.form = form, .view = view, .span = *span, .reader = *reader};
  const bool values_wanted = (form & kValuesBit) != 0;
  if (values_wanted && copy_from_device(entry, item)) return;
  const bool in_their_place = values_wanted && when_full_ == WhenFull::kStatistics;
  if ((form & kAnyStatisticsBits) != 0 || in_their_place) {
    summarize_on_device(entry, item);
  } else if ((form & kShapeBit) != 0) {
    keep_shape(entry, view.dtype, view.shape);
  }
}

// False: the loss has been counted.
bool CaptureSession::copy_from_device(TensorEntry& entry, DeviceItem item) {
  const std::size_t packed_bytes = item.view.packed_bytes();
  if (const Status pinned = devices_.pin_staging_for(item.view.device); !pinned.ok()) {
    lose_unread(entry, packed_bytes, pinned);
    return false;
  }
  // An expanded tensor is larger than the memory it lies in.
  auto slot = claim(entry, std::max(item.span.bytes, packed_bytes));
  if (!slot) return false;
  item.memory = slot->memory();
  const bool may_wait = when_full_ == WhenFull::kBlock;
  Result<device::Ticket> ticket =
      item.reader->copy(item.span.address, item.memory.first(item.span.bytes), item.view.stream, may_wait);
  if (!ticket.ok()) {
    lose_unread(entry, packed_bytes, ticket.status());
    return false;
  }
  item.read.ticket = *std::move(ticket);
  add_device_item(entry, std::move(item));
  return true;
}

// Histograms, hashes, and elements that the kernel cannot read, are left to the writer thread, which gets a copy.
void CaptureSession::summarize_on_device(TensorEntry& entry, DeviceItem item) {
  item.form = (item.form & kAnyStatisticsBits) | kStatisticsBit;
  const bool on_device = item.span.dense && item.reader->summarizes(item.view.dtype, item.span.address);
  if (item.form != kStatisticsBit || !on_device) {
    copy_from_device(entry, std::move(item));
    return;
  }
  const auto count = static_cast<std::uint64_t>(item.view.element_count());
  Result<device::StatisticsRead> read = Status(Code::kUnknown, "not tried");
  take_room([&] {
    read = item.reader->read_statistics(item.span.address, count, item.view.dtype, item.view.stream);
    return read.status().code() != Code::kResourceExhausted;
  });
  if (!read.ok()) return lose_unread(entry, 0, read.status());
  item.read = *std::move(read);
  add_device_item(entry, std::move(item));
}

void CaptureSession::add_device_item(TensorEntry& entry, DeviceItem item) {
  bool added = false;
  add(entry, item.memory.size(), [&] {
    const StepAssembler::Added outcome = assembler_.add_device_item(entry, item);
    added = outcome == StepAssembler::Added::kYes;
    return outcome;
  });
  if (added) return;
  item.form = 0;
  assembler_.await_device_item(std::move(item));
}

void CaptureSession::lose_unread(const TensorEntry& entry, std::uint64_t bytes, const Status& status) {
  lose_saved(cause_of(status), bytes, [&] { return fmt::format("{}: {}", printable(entry.name), status.message()); });
}

}  // namespace trainwarden::capture
