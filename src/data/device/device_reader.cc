#include "data/device/device_reader.h"

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include "core/base/log.h"
#include "core/base/text.h"
#include "data/device/raw_statistics.h"

namespace trainwarden::device {
namespace {

constexpr std::size_t kAlignment = 64;         // of copies in the ring: that of the host's staging area
constexpr std::size_t kShareOfFreeMemory = 8;  // the ring takes at most one part in so many

}  // namespace

// What a ticket stands for. Guarded by the reader's mutex until it is queued; constant afterwards.
class Submission {
 public:
  Submission(EventPool& events, SlotTable* table, DeviceEvent done) : event(done), events_(events), table_(table) {}
  ~Submission() {
    for (const RingAllocator::Range& slot : slots) table_->give_back(slot.number);
    events_.give_back(event);
  }
  Submission(const Submission&) = delete;
  Submission& operator=(const Submission&) = delete;

  DeviceEvent event;                        // everything is on the host; constant
  std::vector<RingAllocator::Range> slots;  // in a row
  bool queued = false;
  bool has_record = false;  // of the event
  Status failure;

 private:
  EventPool& events_;
  SlotTable* const table_;  // none: no slots
};

Result<std::unique_ptr<DeviceReader>> DeviceReader::create(std::unique_ptr<Accelerator> accelerator,
                                                           DeviceReaderOptions options) {
  std::unique_ptr<DeviceReader> reader(new DeviceReader(std::move(accelerator), options));
  TRAINWARDEN_RETURN_IF_ERROR(reader->set_up());
  return reader;
}

DeviceReader::DeviceReader(std::unique_ptr<Accelerator> accelerator, DeviceReaderOptions options)
    : options_(options), accelerator_(std::move(accelerator)), events_(*accelerator_) {}

// The accelerator goes first: it waits for what is under way, which uses the slots.
DeviceReader::~DeviceReader() {
  open_.reset();
  under_way_.clear();
  accelerator_.reset();
}

Status DeviceReader::set_up() {
  TRAINWARDEN_ASSIGN_OR_RETURN(side_, accelerator_->create_stream());
  TRAINWARDEN_ASSIGN_OR_RETURN(ready_, accelerator_->create_event());
  if (!accelerator_->kernel_status().ok()) return Status();
  Result<std::unique_ptr<SlotTable>> slots = SlotTable::create(*accelerator_, options_.slot_count);
  if (slots.ok()) {
    slots_ = *std::move(slots);
  } else {
    log(LogLevel::kWarning, "statistics of tensors on the GPU are computed by the CPU, from copies: {}",
        slots.status().to_string());
  }
  return Status();
}

// The training needs the GPU's memory more than we do: when it is short, the ring is small, or has no room at all.
void DeviceReader::set_up_staging() {
  const std::size_t free_bytes = accelerator_->free_bytes().value_or(0);
  const std::size_t bytes = std::min(options_.staging_bytes, free_bytes / kShareOfFreeMemory);
  const Result<DeviceAddress> memory = accelerator_->allocate(std::max(bytes, kAlignment));
  if (!memory.ok()) {
    log(LogLevel::kWarning, "there is no memory of the GPU for copies: {}", memory.status().to_string());
  }
  staging_ = memory.value_or(0);
  ring_.emplace(memory.ok() ? bytes : 0);
}

bool DeviceReader::summarizes(DType dtype, DeviceAddress elements) const {
  return slots_ != nullptr && kernel_reads(dtype) && elements % item_bytes(dtype) == 0;
}

void DeviceReader::begin_group() {
  std::lock_guard lock(mutex_);
  group_thread_ = std::this_thread::get_id();
}

void DeviceReader::end_group() {
  std::lock_guard lock(mutex_);
  group_thread_ = std::thread::id();
  if (open_) submit(*std::exchange(open_, std::nullopt));
}

// The batch that goes on with what is read now.
Result<DeviceReader::Batch> DeviceReader::take_batch(Stream stream) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const bool recorded, accelerator_->is_recorded(stream));
  if (recorded) {
    return Status(Code::kFailedPrecondition,
                  "its stream is recorded into a CUDA graph, which nothing else may be queued on");
  }
  if (in_group() && open_) {
    Batch batch = *std::exchange(open_, std::nullopt);
    if (batch.stream == stream) return batch;
    submit(std::move(batch));
  }
  retire();
  TRAINWARDEN_ASSIGN_OR_RETURN(DeviceEvent event, events_.take());
  Batch batch;
  batch.stream = stream;
  batch.ticket = std::make_shared<Submission>(events_, slots_.get(), event);
  return batch;
}

// Keeps the batch open for what follows, or hands it to the GPU.
void DeviceReader::settle(Batch batch) {
  if (in_group()) {
    open_ = std::move(batch);
  } else {
    submit(std::move(batch));
  }
}

Result<StatisticsRead> DeviceReader::read_statistics(DeviceAddress elements, std::uint64_t count, DType dtype,
                                                     Stream stream) {
  std::lock_guard lock(mutex_);
  TRAINWARDEN_ASSIGN_OR_RETURN(Batch batch, take_batch(stream));
  const std::optional<RingAllocator::Range> slot = slots_->take();
  if (!slot) {
    settle(std::move(batch));
    return Status(Code::kResourceExhausted,
                  fmt::format("the statistics of {} tensors are on their way from the GPU", options_.slot_count));
  }
  const auto& taken = batch.ticket->slots;
  if (!taken.empty() && slot->begin != taken.back().begin + 1) {
    submit(std::move(batch));
    Result<Batch> next = take_batch(stream);
    if (!next.ok()) {
      slots_->give_back(slot->number);
      return next.status();
    }
    batch = *std::move(next);
  }
  slots_->task(slot->begin) = {std::bit_cast<const void*>(elements), count, static_cast<U32>(dtype), batch.part_count};
  batch.part_count += static_cast<std::uint32_t>(part_count(count));
  batch.ticket->slots.push_back(*slot);
  StatisticsRead read{batch.ticket, slot->begin, count};
  settle(std::move(batch));
  return read;
}

Result<Ticket> DeviceReader::copy(DeviceAddress from, MutableByteSpan pinned, Stream stream, bool may_wait) {
  std::lock_guard lock(mutex_);
  if (!ring_) set_up_staging();
  const std::size_t bytes = align_up(pinned.size(), kAlignment);
  auto range = ring_->take(bytes);
  if (!range && may_wait) range = wait_for_room(bytes);
  Result<Batch> batch = take_batch(stream);
  if (!batch.ok() && range) ring_->give_back(range->number);
  TRAINWARDEN_RETURN_IF_ERROR(batch.status());
  Ticket ticket = batch->ticket;
  if (range) {
    batch->copies.push_back({range->begin, from, pinned});
    batch->ranges.push_back(range->number);
  } else if (may_wait) {
    batch->copies.push_back({std::nullopt, from, pinned});
  }
  settle(*std::move(batch));
  if (range || may_wait) return ticket;
  return Status(Code::kResourceExhausted, fmt::format("no room for {} in the {} that copies have on the GPU",
                                                      format_bytes(pinned.size()), format_bytes(ring_->capacity())));
}

// Waits until what was asked for before has arrived, as far as need be. None: the ring is too small.
std::optional<RingAllocator::Range> DeviceReader::wait_for_room(std::size_t bytes) {
  if (open_) submit(*std::exchange(open_, std::nullopt));
  std::optional<RingAllocator::Range> range;
  while (!range && !under_way_.empty()) {
    if (under_way_.front().ticket->has_record) {
      // An error shows when the ticket is waited for.
      static_cast<void>(accelerator_->wait(under_way_.front().ticket->event));
    }
    retire();
    range = ring_->take(bytes);
  }
  return range;
}

void DeviceReader::submit(Batch batch) {
  Submission& submission = *batch.ticket;
  if (submission.slots.empty() && batch.copies.empty()) return;
  submission.failure = queue(batch);
  // Recorded even after a failure: something may be under way to the memory that the ticket stands for.
  const Status recorded = accelerator_->record(submission.event, side_);
  submission.has_record = recorded.ok();
  if (submission.failure.ok()) submission.failure = recorded;
  submission.queued = true;
  under_way_.push_back(std::move(batch));
}

Status DeviceReader::queue(const Batch& batch) {
  const std::vector<RingAllocator::Range>& slots = batch.ticket->slots;
  const auto slot_count = static_cast<std::uint32_t>(slots.size());
  if (slot_count > 0) {
    TRAINWARDEN_RETURN_IF_ERROR(
        slots_->queue_launch(*accelerator_, slots.front().begin, slot_count, batch.part_count, batch.stream));
  }
  for (const Copy& copy : batch.copies) {
    TRAINWARDEN_RETURN_IF_ERROR(
        copy.staged ? accelerator_->copy_on_device(staging_ + *copy.staged, copy.from, copy.to.size(), batch.stream)
                    : accelerator_->copy_to_host(copy.to.data(), copy.from, copy.to.size(), batch.stream));
  }
  TRAINWARDEN_RETURN_IF_ERROR(accelerator_->record(ready_, batch.stream));
  TRAINWARDEN_RETURN_IF_ERROR(accelerator_->hold_until(side_, ready_));
  if (slot_count > 0) {
    TRAINWARDEN_RETURN_IF_ERROR(slots_->queue_results(*accelerator_, slots.front().begin, slot_count, side_));
  }
  return queue_copies_to_host(batch);
}

// Neighbours in the ring that are neighbours on the host, too, go in one copy: each costs the training thread some
// microseconds.
Status DeviceReader::queue_copies_to_host(const Batch& batch) {
  for (std::size_t i = 0; i < batch.copies.size();) {
    const Copy& first = batch.copies[i++];
    if (!first.staged) continue;
    std::size_t bytes = first.to.size();
    for (; i < batch.copies.size(); ++i) {
      const Copy& next = batch.copies[i];
      const std::size_t distance = align_up(bytes, kAlignment);
      if (next.staged != *first.staged + distance || next.to.data() != first.to.data() + distance) break;
      bytes = distance + next.to.size();
    }
    TRAINWARDEN_RETURN_IF_ERROR(accelerator_->copy_to_host(first.to.data(), staging_ + *first.staged, bytes, side_));
  }
  return Status();
}

// Makes room of what has arrived. After a failure of the GPU nothing arrives any more, and nothing is waited for.
void DeviceReader::retire() {
  while (!under_way_.empty()) {
    const Batch& oldest = under_way_.front();
    if (oldest.ticket->has_record && !accelerator_->reached(oldest.ticket->event).value_or(true)) return;
    for (const std::uint64_t range : oldest.ranges) ring_->give_back(range);
    under_way_.pop_front();
  }
}

Status DeviceReader::wait(const Ticket& ticket) {
  {
    std::lock_guard lock(mutex_);
    if (!ticket->queued && open_) submit(*std::exchange(open_, std::nullopt));
    if (!ticket->has_record) return ticket->failure;
  }
  const Status status = accelerator_->wait(ticket->event);
  std::lock_guard lock(mutex_);
  retire();
  return ticket->failure.ok() ? status : ticket->failure;
}

bool DeviceReader::settled(const Ticket& ticket) {
  std::lock_guard lock(mutex_);
  if (!ticket->queued) return false;
  return !ticket->has_record || accelerator_->reached(ticket->event).value_or(true);
}

Statistics DeviceReader::statistics(const StatisticsRead& read) const {
  return to_statistics(slots_->raw(read.slot), read.element_count);
}

}  // namespace trainwarden::device
