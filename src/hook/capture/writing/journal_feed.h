// JournalFeed: what the writer thread does with its journal, one thing after the other.
//
// When the journal cannot be written, the content of the step is counted as lost, which is written with the next step
// that can be written. How often a broken storage is tried is decided by the journal.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "hook/capture/budget/space_keeper.h"
#include "hook/capture/requests/capture_changes.h"
#include "hook/capture/requests/checkpoint_requests.h"
#include "hook/capture/requests/examine_requests.h"
#include "hook/capture/requests/profile_requests.h"
#include "hook/capture/requests/stop_requests.h"
#include "hook/capture/staging/staged_step.h"
#include "hook/capture/step_counter.h"
#include "hook/capture/step_judge.h"
#include "hook/capture/writing/loss_tally.h"
#include "hook/capture/writing/open_parts.h"
#include "store/journal/journal_writer.h"
#include "trainwarden/collection.h"
#include "trainwarden/hook.h"

namespace trainwarden::capture {

// What has reached the journal. Any thread may look.
struct WrittenCounts {
  std::atomic<std::uint64_t> tensors = 0;
  std::atomic<std::uint64_t> tensor_bytes = 0;
  std::atomic<std::uint64_t> statistics = 0;
  std::atomic<std::uint64_t> scalars = 0;
  std::atomic<std::uint64_t> reductions = 0;
  std::atomic<std::uint64_t> operator_calls = 0;
};

// One thread at a time, but for stop(), enqueue() and written().
class JournalFeed {
 public:
  // `training` says where the training is; it, `changes`, `clock` and `losses` must outlive this.
  JournalFeed(std::unique_ptr<journal::JournalWriter> journal, StopRequests stop_requests, CaptureChanges& changes,
              Durability durability, const StepCounter& training, const Clock& clock, SharedLossTally& losses);

  // Before the first step; `dumper` must outlive this.
  void write_dumps_with(BoxDumper& dumper) { dumper_ = &dumper; }
  // The same for who wants checkpoints.
  // Before the first step.
  void keep_within(std::unique_ptr<SpaceKeeper> space) { space_ = std::move(space); }
  void look_for(CheckpointRequests& requests) { checkpoints_ = &requests; }
  void look_for(ProfileRequests& requests) { profiles_ = &requests; }
  void look_for(ExamineRequests& requests) { examinations_ = &requests; }

  // Not ok: the step, or this part of one, is not in the journal, and has been counted as lost.
  Status write(StagedStep& step);
  // Looks for requests (when `idle` or after a few milliseconds), syncs when it is time.
  void tend(bool idle);
  // Tells what was lost last, writes the end of the run, seals, and frees the journal's lock.
  Status finish();

  // An event that is written as soon as that can be. With `collections`: they are what is captured from now on.
  void enqueue(std::string event, std::optional<std::vector<Collection>> collections = {});
  void enqueue(const CheckpointRequests::Events& events);

  // Who writes what it found, in the thread of this; it must outlive this.
  void set_judge(StepJudge* judge) { judge_.store(judge, std::memory_order_release); }
  // A request to stop, wherever it came from. From any thread.
  void take_stop_request(format::StopRequest request);

  // The first request, nullptr while there is none. Valid as long as this.
  const format::StopRequest* stop() const { return stop_.load(std::memory_order_acquire); }
  const WrittenCounts& written() const { return written_; }

 private:
  struct Event {
    std::string json;
    std::optional<std::vector<Collection>> collections;
  };

  void let_judge_write();
  Status append(StagedStep& step);
  Status append_part(StagedStep& part);
  void notice_lost_parts(const StepId& step);
  void lose_parts(const StepId& step, std::string_view why);
  Status append_event(const std::string& json);
  Status append_queued(Event& event);
  Status tried(Status status);
  void lose(const StagedStep& step, const Status& status);
  void count(const StagedStep& step);
  bool must_wait(const Event& event) const;
  Status write_dump(const BoxDump& dump);
  Status write_operators(const StepCalls& calls);
  void take_black_box_requests();
  void take_checkpoint_requests();
  void look_at_requests();
  std::int64_t last_step() const { return training_.current().global_step - 1; }
  void take_capture_requests();
  void take_told_events();
  void write_events();
  void sync_when_due();
  Status sync();
  Status write_end();

  std::unique_ptr<journal::JournalWriter> journal_;
  StopRequests stop_requests_;
  CaptureChanges& changes_;
  const Durability durability_;
  const StepCounter& training_;
  const Clock& clock_;
  SharedLossTally& losses_;
  BoxDumper* dumper_ = nullptr;         // none without a black box
  std::unique_ptr<SpaceKeeper> space_;  // none without limits
  CheckpointRequests* checkpoints_ = nullptr;
  ProfileRequests* profiles_ = nullptr;
  ExamineRequests* examinations_ = nullptr;
  const std::int64_t first_step_;

  WrittenCounts written_;
  std::atomic<StepJudge*> judge_ = nullptr;
  std::mutex stop_mutex_;
  std::unique_ptr<format::StopRequest> first_stop_;  // guarded by stop_mutex_; once there it stays as it is
  std::atomic<const format::StopRequest*> stop_ = nullptr;
  std::mutex queue_mutex_;
  std::vector<Event> queued_events_;  // guarded by queue_mutex_; on their way to the following
  std::vector<Event> unwritten_events_;
  std::int64_t last_poll_ns_ = 0;
  std::int64_t last_capture_poll_ns_ = 0;
  std::int64_t last_config_look_ns_ = 0;
  std::int64_t last_sync_ns_ = 0;
  bool unsynced_ = false;

  // What could not be written to the journal so far.
  OpenParts parts_;  // of the step that is written
  StepId last_lost_step_;
  LossTally untold_losses_;
  LossTally untold_syncs_;  // apart from those: they are of no step, so the end of the run does not invent one for them
  std::vector<journal::NameEntry> untold_names_;
  bool failing_ = false;  // since the last append
};

}  // namespace trainwarden::capture
