// CaptureSession: everything behind a hook that is on, put together: the plan decides, the table knows names, the
// assembler gathers, the writer writes.
//
// May throw std::bad_alloc and the like; the hook catches.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/clock.h"
#include "hook/capture/black_box/black_box.h"
#include "hook/capture/black_box/box_dumper.h"
#include "hook/capture/black_box/crash_writer.h"
#include "hook/capture/budget/bill.h"
#include "hook/capture/capture_plan.h"
#include "hook/capture/gpu/device_capture.h"
#include "hook/capture/requests/capture_changes.h"
#include "hook/capture/requests/checkpoint_requests.h"
#include "hook/capture/requests/stop_requests.h"
#include "hook/capture/staging/staging_area.h"
#include "hook/capture/step_counter.h"
#include "hook/capture/step_judge.h"
#include "hook/capture/tensor_table.h"
#include "hook/capture/writing/loss_tally.h"
#include "hook/capture/writing/step_assembler.h"
#include "hook/capture/writing/step_writer.h"
#include "store/journal/journal_writer.h"
#include "trainwarden/hook.h"

namespace trainwarden::capture {

// Thread rules as of Hook.
class CaptureSession {
 public:
  struct Parts {
    std::unique_ptr<CapturePlan> plan;
    std::unique_ptr<journal::JournalWriter> journal;
    StopRequests stop_requests;
    std::unique_ptr<CaptureChanges> changes;
    std::unique_ptr<CheckpointRequests> checkpoints;
    std::shared_ptr<storage::Storage> storage;  // kept alive for the journal; none in a dry run
    const Clock& clock;
    StepCounter& counter;             // outlives the session
    std::optional<BoxHead> box_head;  // of a run that has a black box
    device::AcceleratorFactory open_accelerator = device::open_accelerator;
  };
  // Starts the writer thread. Takes staging_bytes, when_full and durability from the options. kResourceExhausted.
  static Result<std::unique_ptr<CaptureSession>> start(const HookOptions& options, Parts parts);

  TensorId declare(std::string_view name, std::span<const std::string_view> collections);
  bool anything_wanted() const { return plan_->anything_wanted(); }
  bool wants(TensorId id) const;
  bool wants(std::string_view name);
  bool wants_collection(std::string_view collection) const { return plan_->wants_collection(collection); }
  std::optional<std::int64_t> next_wanted_step(TensorId id) const;
  void add_cost(std::chrono::nanoseconds spent) { bill_.add_ns(spent.count()); }

  void save_tensor(TensorId id, const TensorView& view);
  void save_tensor(std::string_view name, const TensorView& view);
  void save_strings(std::string_view name, std::span<const std::string_view> strings);
  void save_scalar(std::string_view name, double value);
  void save_reductions(TensorId id, std::span<const SavedReduction> reductions);
  void save_reductions(std::string_view name, std::span<const SavedReduction> reductions);

  bool remembers() const { return box_ != nullptr && is_on() && plan_->fills_black_box(); }
  void remember(std::string_view name, const TensorView& view);
  bool dump_black_box(const BlackBoxReason& reason);
  void offer_checkpoints() { checkpoints_->offer(); }
  std::optional<CheckpointRequest> take_checkpoint_request();
  void answer_checkpoint(const CheckpointRequest& request, const Result<std::filesystem::path>& saved);
  Result<std::filesystem::path> write_checkpoint(
      std::string_view ending, const std::function<Status(const std::filesystem::path&)>& write) const;

  // From now on and until close(), the black box is written when the process dies on a signal, into this folder on this
  // machine.
  void catch_signals(const std::filesystem::path& run_dir);

  void begin_group() { devices_.begin_group(); }
  void end_group();

  // Before the first step ends; once.
  Status install(const MakeJudge& make, std::string worker, int world_size);
  bool has_judge() const { return judge_ != nullptr; }
  StepAdvice judge_step();
  std::string_view judge_reason() const { return judge_ ? std::string_view(judge_->reason()) : std::string_view(); }

  void set_mode(Mode mode);
  StepEnd end_step();
  bool end_idle_step();
  Status flush(std::chrono::nanoseconds timeout) { return writer_.flush(timeout); }
  // Idempotent: again, it gives the same answer.
  Status close(std::chrono::nanoseconds timeout);
  bool closed() const { return closed_; }
  // The writer thread is stuck in the storage: this object must never be destroyed.
  bool stuck() const { return close_status_.code() == Code::kDeadlineExceeded; }

  // Nothing is kept any more; what is offered is counted as lost. The reason of the first call stays.
  void switch_off(std::string reason);
  void lose(LossCause cause, std::uint64_t count, std::uint64_t bytes, std::string_view message);
  HookReport report() const;

 private:
  CaptureSession(const HookOptions& options, Parts parts, std::unique_ptr<StagingArea> staging);

  void count_beside(int workers);
  void take_earlier_requests();
  TensorEntry* entry_of(std::string_view name);
  TensorEntry* add_entry(std::string_view name);
  void add_to(TensorEntry& entry, std::span<const std::string_view> collections);
  void save(TensorEntry& entry, const TensorView& view);
  void save_whole_strings(TensorEntry& entry, FormBits form, const Shape& shape,
                          std::span<const std::string_view> strings);
  void keep_reductions(TensorEntry& entry, std::span<const SavedReduction> reductions);
  bool keep_values(TensorEntry& entry, FormBits form, const TensorView& view);
  void keep_statistics(TensorEntry& entry, FormBits form, const TensorView& view);
  void keep_shape(TensorEntry& entry, DType dtype, const Shape& shape);
  void save_from_device(TensorEntry& entry, FormBits form, const TensorView& view);
  bool copy_from_device(TensorEntry& entry, DeviceItem item);
  void summarize_on_device(TensorEntry& entry, DeviceItem item);
  void add_device_item(TensorEntry& entry, DeviceItem item);
  void lose_unread(const TensorEntry& entry, std::uint64_t bytes, const Status& status);
  void add_row(TensorEntry& entry, journal::StatisticsRow row);
  std::optional<StepAssembler::Slot> claim(const TensorEntry& entry, std::size_t bytes);
  template <class AddNow>
  void add(const TensorEntry& entry, std::uint64_t bytes, AddNow add_now);
  template <class Take>
  bool take_room(Take take);
  void begin_step();
  void take_changes();
  void update_memberships();
  template <class Ask>
  StepAdvice ask_judge(Ask ask);
  void settle_open_step();
  void end_box_step();
  void submit(std::unique_ptr<StagedStep> step);
  bool is_on() const { return on_.load(std::memory_order_relaxed); }
  template <class Message>
  void lose_saved(LossCause cause, std::uint64_t bytes, Message message);
  void lose_nameless();
  void lose_undeclared(TensorId id);
  void lose_full(const TensorEntry& entry, std::uint64_t bytes);

  Status set_up_black_box(const BlackBoxOptions& options, std::optional<BoxHead> head);

  const int rank_;
  const WhenFull when_full_;
  const double budget_;
  const Clock& clock_;
  StepCounter& counter_;
  const std::shared_ptr<storage::Storage> storage_;
  const std::unique_ptr<CapturePlan> plan_;
  const std::unique_ptr<StagingArea> staging_;
  DeviceCapture devices_;  // outlives every step
  const std::unique_ptr<CaptureChanges> changes_;
  const std::unique_ptr<CheckpointRequests> checkpoints_;
  Bill bill_;
  LossLedger ledger_;
  TensorTable tensors_;
  std::unique_ptr<BlackBox> box_;  // none unless asked for; these two outlive every step
  std::unique_ptr<BoxDumper> dumper_;
  std::unique_ptr<CrashWriter> crash_writer_;
  StepAssembler assembler_;
  std::unique_ptr<StepJudge> judge_;  // outlives the writer, which calls it
  StepWriter writer_;

  std::atomic<std::int64_t> steps_ = 0;
  std::atomic<bool> on_ = true;
  mutable std::mutex off_mutex_;
  std::string off_reason_;  // guarded by off_mutex_
  bool judging_ = false;    // for the thread that drives training
  bool closed_ = false;
  Status close_status_;
};

// Calls `add_now` (→ Added) as take_room() does, and counts what could not be added.
template <class AddNow>
void CaptureSession::add(const TensorEntry& entry, std::uint64_t bytes, AddNow add_now) {
  StepAssembler::Added added;
  take_room([&] {
    added = add_now();
    return added != StepAssembler::Added::kNoRoom;
  });
  if (added == StepAssembler::Added::kNoRoom) lose_full(entry, bytes);
  if (added == StepAssembler::Added::kNoName) lose_nameless();
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

// Something that was to be saved now, in the current step.
template <class Message>
void CaptureSession::lose_saved(LossCause cause, std::uint64_t bytes, Message message) {
  ledger_.add(cause, 1, bytes, message);
  if (is_on()) assembler_.add_loss(cause, 1, bytes, message);
}

}  // namespace trainwarden::capture
