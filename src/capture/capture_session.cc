#include "capture/capture_session.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/log.h"
#include "base/text.h"
#include "capture/packed_strings.h"

namespace trainwarden::capture {
namespace {

constexpr std::string_view kScalarsCollection = "scalars";

// Adds the time until its end to a sum.
class CostTimer {
 public:
  CostTimer(const Clock& clock, std::atomic<std::int64_t>& sum_ns)
      : clock_(clock), sum_ns_(sum_ns), begin_ns_(clock.steady_ns()) {}
  ~CostTimer() { sum_ns_.fetch_add(clock_.steady_ns() - begin_ns_, std::memory_order_relaxed); }
  CostTimer(const CostTimer&) = delete;
  CostTimer& operator=(const CostTimer&) = delete;

 private:
  const Clock& clock_;
  std::atomic<std::int64_t>& sum_ns_;
  const std::int64_t begin_ns_;
};

// Why the hook cannot read the tensor's elements; nullptr when it can.
const char* why_unreadable(const TensorView& view) {
  if (!view.device.host_readable()) return "its memory cannot be read by the host; copy it there first";
  if (view.data == nullptr && view.element_count() > 0) return "it has no memory";
  return nullptr;
}

std::string about(const TensorEntry& entry, std::string_view problem) {
  return fmt::format("{}: {}", printable(entry.name), problem);
}

}  // namespace

Result<std::unique_ptr<CaptureSession>> CaptureSession::start(const HookOptions& options, Parts parts) {
  TRAINWARDEN_ASSIGN_OR_RETURN(std::unique_ptr<StagingArea> staging, StagingArea::create(options.staging_bytes));
  std::unique_ptr<CaptureSession> session(new CaptureSession(options, std::move(parts), std::move(staging)));
  TRAINWARDEN_RETURN_IF_ERROR(session->writer_.start());
  return session;
}

CaptureSession::CaptureSession(const HookOptions& options, Parts parts, std::unique_ptr<StagingArea> staging)
    : when_full_(options.when_full),
      clock_(parts.clock),
      counter_(parts.counter),
      storage_(std::move(parts.storage)),
      plan_(std::move(parts.plan)),
      staging_(std::move(staging)),
      assembler_(*staging_, tensors_, *plan_),
      writer_(std::make_unique<JournalFeed>(std::move(parts.journal), std::move(parts.stop_requests),
                                            options.durability, counter_, clock_, ledger_)) {}

// Names.

TensorEntry* CaptureSession::entry_of(std::string_view name) {
  if (TensorEntry* entry = tensors_.find(name)) return entry;
  return tensors_.add(name, plan_->membership_of(name));
}

void CaptureSession::add_to(TensorEntry& entry, std::span<const std::string_view> collections) {
  const Membership* before = entry.membership.load(std::memory_order_acquire);
  while (!entry.membership.compare_exchange_weak(before, &plan_->with_collections(*before, collections))) continue;
}

TensorId CaptureSession::declare(std::string_view name, std::span<const std::string_view> collections) {
  TensorEntry* entry = entry_of(name);
  if (entry == nullptr) return TensorId();
  if (!collections.empty()) add_to(*entry, collections);
  return TensorId{entry->id};
}

bool CaptureSession::wants(TensorId id) const {
  const TensorEntry* entry = tensors_.find(id);
  return entry != nullptr && entry->form_now() != 0;
}

bool CaptureSession::wants(std::string_view name) {
  const TensorEntry* entry = entry_of(name);
  return entry != nullptr && entry->form_now() != 0;
}

// Saving.

void CaptureSession::save_tensor(TensorId id, const TensorView& view) {
  if (TensorEntry* entry = tensors_.find(id)) return save(*entry, view);
  lose_saved(LossCause::kUnsupported, 0, [&] { return fmt::format("no tensor was declared as {}", id.value); });
}

void CaptureSession::save_tensor(std::string_view name, const TensorView& view) {
  if (TensorEntry* entry = entry_of(name)) return save(*entry, view);
  lose_nameless();
}

void CaptureSession::save(TensorEntry& entry, const TensorView& view) {
  const FormBits form = entry.form_now();
  if (form == 0) return;
  const CostTimer timer(clock_, training_thread_ns_);
  if (const char* problem = why_unreadable(view)) {
    return lose_saved(LossCause::kUnsupported, 0, [&] { return about(entry, problem); });
  }
  if (view.dtype == DType::kString) {
    std::vector<std::string_view> strings(static_cast<std::size_t>(view.element_count()));
    const Status status = copy_packed(view, strings.data());
    if (status.ok()) return save_whole_strings(entry, form, view.shape, strings);
    return lose_saved(LossCause::kUnsupported, 0, [&] { return about(entry, status.message()); });
  }
  if (!is_on()) return lose_saved(LossCause::kHookOff, view.packed_bytes(), [&] { return printable(entry.name); });

  const TensorEntry* target = assembler_.entry_for_save(entry);
  if (target == nullptr) return lose_nameless();
  const bool values_wanted = (form & kValuesBit) != 0;
  if (values_wanted && keep_values(*target, form, view)) return;
  const bool in_their_place = values_wanted && when_full_ == WhenFull::kStatistics;
  if ((form & kAnyStatisticsBits) != 0 || in_their_place) {
    keep_statistics(*target, form, view);
  } else if ((form & kShapeBit) != 0) {
    keep_shape(*target, view.dtype, view.shape);
  }
}

// The statistics of a tensor that is kept whole are left to the writer thread.
bool CaptureSession::keep_values(const TensorEntry& entry, FormBits form, const TensorView& view) {
  auto slot = claim(entry, view.packed_bytes());
  if (!slot) return false;
  const Status copied = slot->memory().empty() ? Status() : copy_packed(view, slot->memory().data());
  if (!copied.ok()) {
    lose_saved(LossCause::kUnsupported, 0, [&] { return about(entry, copied.message()); });
    return false;
  }
  StagedTensor tensor;
  tensor.dtype = view.dtype;
  tensor.shape = view.shape;
  tensor.statistics = form & kAnyStatisticsBits;
  assembler_.add_tensor(*std::move(slot), entry, std::move(tensor));
  return true;
}

void CaptureSession::keep_statistics(const TensorEntry& entry, FormBits form, const TensorView& view) {
  StatisticsOptions options;
  options.histogram = (form & kHistogramBit) != 0;
  options.hash = (form & kHashBit) != 0;
  Result<Statistics> statistics = compute_statistics(view, options);
  if (!statistics.ok()) {
    return lose_saved(LossCause::kUnsupported, 0, [&] { return about(entry, statistics.status().message()); });
  }
  add_row(entry, {.dtype = view.dtype, .shape = view.shape, .statistics = *std::move(statistics)});
}

void CaptureSession::keep_shape(const TensorEntry& entry, DType dtype, const Shape& shape) {
  add_row(entry, {.dtype = dtype, .shape = shape, .shape_only = true});
}

void CaptureSession::add_row(const TensorEntry& entry, store::StatisticsRow row) {
  if (!take_room([&] { return assembler_.add_statistics(entry, row); })) lose_full(entry, 0);
}

void CaptureSession::save_strings(std::string_view name, std::span<const std::string_view> strings) {
  TensorEntry* entry = entry_of(name);
  if (entry == nullptr) return lose_nameless();
  const FormBits form = entry->form_now();
  if (form == 0) return;
  const CostTimer timer(clock_, training_thread_ns_);
  save_whole_strings(*entry, form, Shape({static_cast<std::int64_t>(strings.size())}), strings);
}

// Strings have no statistics: they are kept whole, or only their shape is.
void CaptureSession::save_whole_strings(TensorEntry& entry, FormBits form, const Shape& shape,
                                        std::span<const std::string_view> strings) {
  const std::size_t bytes = packed_string_bytes(strings);
  if (!is_on()) return lose_saved(LossCause::kHookOff, bytes, [&] { return printable(entry.name); });
  const TensorEntry* target = assembler_.entry_for_save(entry);
  if (target == nullptr) return lose_nameless();
  if ((form & kValuesBit) == 0) return keep_shape(*target, DType::kString, shape);
  auto slot = claim(*target, bytes);
  if (!slot) return;
  pack_strings(strings, slot->memory());
  StagedTensor tensor;
  tensor.dtype = DType::kString;
  tensor.shape = shape;
  assembler_.add_tensor(*std::move(slot), *target, std::move(tensor));
}

void CaptureSession::save_scalar(std::string_view name, double value) {
  const CostTimer timer(clock_, training_thread_ns_);
  TensorEntry* entry = entry_of(name);
  if (entry == nullptr) return lose_nameless();
  if (!is_on()) return lose_saved(LossCause::kHookOff, sizeof value, [&] { return printable(entry->name); });
  if (!entry->membership.load(std::memory_order_acquire)->has_scalars()) add_to(*entry, {&kScalarsCollection, 1});
  const TensorEntry* target = assembler_.entry_for_save(*entry);
  if (target == nullptr) return lose_nameless();
  if (!take_room([&] { return assembler_.add_scalar(*target, value); })) lose_full(*target, sizeof value);
}

// Memory for a tensor's bytes; without it the loss has been counted.
std::optional<StepAssembler::Slot> CaptureSession::claim(const TensorEntry& entry, std::size_t bytes) {
  std::optional<StepAssembler::Slot> slot;
  if (bytes > staging_->capacity_bytes()) {
    lose_saved(LossCause::kTooLarge, bytes, [&] {
      return fmt::format("{} of {} is larger than the whole staging area of {}; raise staging_bytes",
                         printable(entry.name), format_bytes(bytes), format_bytes(staging_->capacity_bytes()));
    });
    return slot;
  }
  const bool taken = take_room([&] {
    auto claimed = assembler_.claim(bytes);
    if (!claimed) return false;
    slot.emplace(*std::move(claimed));
    return true;
  });
  if (!taken) lose_full(entry, bytes);
  return slot;
}

// Calls `take` (true: it found room) until it succeeds or waiting is no use or not wanted.
template <class Take>
bool CaptureSession::take_room(Take take) {
  while (true) {
    const std::uint64_t releases = staging_->release_count();
    if (take()) return true;
    if (when_full_ != WhenFull::kBlock || !staging_->wait_for_release(releases)) return false;
  }
}

// Steps.

void CaptureSession::set_mode(Mode mode) {
  if (mode == counter_.current().mode) return;
  if (!assembler_.step_is_empty()) end_step();
  counter_.set_mode(mode);
  const StepId step = counter_.current();
  plan_->begin_step(step.mode, step.mode_step);
}

StepEnd CaptureSession::end_step() {
  const StepId id = counter_.current();
  if (auto step = assembler_.end(id)) {
    const CostTimer timer(clock_, training_thread_ns_);
    if (!writer_.submit(step, when_full_ == WhenFull::kBlock)) {
      assembler_.lose(*step);
      ledger_.add(LossCause::kStagingFull, step->item_count(), step->tensor_bytes(),
                  [&] { return fmt::format("step {}: too many steps wait for the writer", id.global_step); });
    }
  }
  ++steps_;
  counter_.advance();
  const StepId next = counter_.current();
  plan_->begin_step(next.mode, next.mode_step);

  StepEnd end{.global_step = id.global_step, .mode = id.mode, .mode_step = id.mode_step};
  if (const format::StopRequest* stop = writer_.stop()) {
    end.stop_requested = true;
    end.stop_reason = stop->reason;
  }
  return end;
}

Status CaptureSession::close(std::chrono::nanoseconds timeout) {
  if (closed_) return close_status_;
  closed_ = true;
  switch_off("closed");
  staging_->end_waiting();
  std::unique_ptr<StagedStep> last_step = assembler_.end(counter_.current());
  if (last_step != nullptr) {
    ++steps_;
    counter_.advance();
  }
  close_status_ = writer_.finish(std::move(last_step), timeout);
  return close_status_;
}

// Losses.

void CaptureSession::switch_off(std::string reason) {
  std::lock_guard lock(off_mutex_);
  if (!on_.exchange(false)) return;
  off_reason_ = std::move(reason);
}

void CaptureSession::lose(LossCause cause, std::uint64_t count, std::uint64_t bytes, std::string_view message) {
  const auto text = [&] { return std::string(message); };
  ledger_.add(cause, count, bytes, text);
  if (is_on()) assembler_.add_loss(cause, count, bytes, text);
}

// Something that was to be saved now, in the current step.
template <class Message>
void CaptureSession::lose_saved(LossCause cause, std::uint64_t bytes, Message message) {
  ledger_.add(cause, 1, bytes, message);
  if (is_on()) assembler_.add_loss(cause, 1, bytes, message);
}

void CaptureSession::lose_nameless() {
  lose_saved(LossCause::kUnsupported, 0, [] {
    return fmt::format(
        "a name is longer than {} bytes, or there are more than {} names; give tensors the same names "
        "at every step",
        TensorTable::kMaxNameBytes, TensorTable::kMaxTensors);
  });
}

void CaptureSession::lose_full(const TensorEntry& entry, std::uint64_t bytes) {
  lose_saved(LossCause::kStagingFull, bytes, [&] {
    return fmt::format(
        "no room for {} of {} in the staging area of {}: the storage is slower than what is saved; "
        "save less often, keep statistics, or raise staging_bytes",
        printable(entry.name), format_bytes(bytes), format_bytes(staging_->capacity_bytes()));
  });
}

HookReport CaptureSession::report() const {
  HookReport report;
  const WrittenCounts& written = writer_.written();
  report.steps = steps_;
  report.kept_tensors = written.tensors;
  report.kept_bytes = written.tensor_bytes;
  report.statistics = written.statistics;
  report.scalars = written.scalars;
  report.training_thread_ns = training_thread_ns_;
  report.losses = ledger_.losses();
  std::lock_guard lock(off_mutex_);
  report.on = on_;
  report.off_reason = off_reason_;
  return report;
}

}  // namespace trainwarden::capture
