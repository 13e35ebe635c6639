#include "hook/capture/writing/journal_feed.h"

#include <chrono>
#include <iterator>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "core/base/log.h"
#include "core/base/no_throw.h"
#include "data/format/run_event.h"
#include "hook/capture/gpu/device_items.h"

namespace trainwarden::capture {
namespace {

constexpr int kTriesToEnd = 5;
constexpr std::chrono::milliseconds kPauseBetweenTries{50};  // a journal that has failed wants some time
constexpr std::int64_t kSyncIntervalNs = 1'000'000'000;
constexpr std::int64_t kPollIntervalNs = 2'000'000;  // while steps come faster than that
constexpr std::int64_t kCapturePollIntervalNs = 20'000'000;
constexpr std::int64_t kConfigIntervalNs = 1'000'000'000;

}  // namespace

JournalFeed::JournalFeed(std::unique_ptr<journal::JournalWriter> journal, StopRequests stop_requests,
                         CaptureChanges& changes, Durability durability, const StepCounter& training,
                         const Clock& clock, SharedLossTally& losses)
    : journal_(std::move(journal)),
      stop_requests_(std::move(stop_requests)),
      changes_(changes),
      durability_(durability),
      training_(training),
      clock_(clock),
      losses_(losses),
      first_step_(training.current().global_step) {}

Status JournalFeed::write(StagedStep& step) {
  if (step.dump != nullptr) return write_dump(*step.dump);
  if (step.operators != nullptr) return write_operators(*step.operators);
  if (!step.is_part) let_judge_write();
  const Status status = no_throw([&] { return step.is_part ? append_part(step) : append(step); });
  if (!status.ok()) {
    lose(step, status);
  } else if (!step.is_part) {
    count(step);
  }
  return status;
}

// What it found of a step is there before the step: whoever judges beside the training can know what follows from it.
void JournalFeed::let_judge_write() {
  if (StepJudge* const judge = judge_.load(std::memory_order_acquire)) judge->write();
}

Status JournalFeed::append(StagedStep& step) {
  settle_device_items(step, losses_);
  notice_lost_parts(step.id);
  parts_.give_back_to(step);
  const bool fits = space_ == nullptr || space_->fit(step, journal_->written_bytes(), losses_);
  if (!fits && !parts_.any()) {
    last_lost_step_ = step.id;  // which its losses are told under
    untold_losses_.merge(step.losses);
    untold_names_.insert(untold_names_.end(), step.new_names.begin(), step.new_names.end());
    return Status();
  }
  step.losses.merge(untold_losses_);
  step.losses.merge(untold_syncs_);
  step.new_names.insert(step.new_names.begin(), untold_names_.begin(), untold_names_.end());
  untold_losses_ = LossTally();
  untold_syncs_ = LossTally();
  untold_names_.clear();
  std::vector<std::vector<std::string>> strings;
  journal::StepBatch batch = make_batch(step, strings);
  Status status = tried(journal_->append_step(batch));
  step.statistics = std::move(batch.statistics);  // to be counted
  return status;
}

// Its statistics and losses are written with the end of the step.
Status JournalFeed::append_part(StagedStep& part) {
  notice_lost_parts(part.id);
  if (space_ != nullptr) space_->fit(part, journal_->written_bytes(), losses_);
  part.new_names.insert(part.new_names.begin(), untold_names_.begin(), untold_names_.end());
  untold_names_.clear();
  std::vector<std::vector<std::string>> strings;
  journal::StepBatch batch = make_batch(part, strings);
  part.statistics = std::move(batch.statistics);
  batch.losses.clear();
  parts_.put_aside(part);
  if (batch.tensors.empty()) {
    untold_names_ = std::move(part.new_names);
    return Status();
  }
  Status status = tried(journal_->append_part(batch));
  if (status.ok()) parts_.count(part);
  return status;
}

// With the segment that they were appended to.
void JournalFeed::notice_lost_parts(const StepId& step) {
  if (parts_.any() && !journal_->holds_parts()) lose_parts(step, "a segment that could not be written on had the rest");
}

void JournalFeed::lose_parts(const StepId& step, std::string_view why) {
  if (!parts_.any()) return;
  const auto message = [&] { return fmt::format("step {}: {}", step.global_step, why); };
  last_lost_step_ = step;
  untold_losses_.add(LossCause::kWriteFailed, parts_.tensors(), parts_.tensor_bytes(), message);
  losses_.add(LossCause::kWriteFailed, parts_.tensors(), parts_.tensor_bytes(), message);
  parts_.forget();
}

// Takes note of how an append went. Each outage is logged once, when it begins.
Status JournalFeed::tried(Status status) {
  if (status.ok()) {
    if (failing_) log(LogLevel::kInfo, "the run can be written again");
    unsynced_ = true;
  } else if (!failing_) {
    log(LogLevel::kError, "the run cannot be written, and training goes on without: {}", status.to_string());
  }
  failing_ = !status.ok();
  return status;
}

void JournalFeed::count(const StagedStep& step) {
  written_.tensors += step.tensors.size() + parts_.tensors();
  written_.tensor_bytes += step.tensor_bytes() + parts_.tensor_bytes();
  parts_.forget();
  written_.statistics += step.statistics.size();
  written_.scalars += step.scalars.size();
  written_.reductions += step.reductions.size();
}

void JournalFeed::lose(const StagedStep& step, const Status& status) {
  const auto message = [&] { return fmt::format("step {}: {}", step.id.global_step, status.to_string()); };
  if (!step.is_part) lose_parts(step.id, status.to_string());
  last_lost_step_ = step.id;
  untold_losses_.merge(step.losses);
  untold_names_.insert(untold_names_.end(), step.new_names.begin(), step.new_names.end());
  if (step.item_count() == 0) return;
  untold_losses_.add(LossCause::kWriteFailed, step.item_count(), step.tensor_bytes(), message);
  losses_.add(LossCause::kWriteFailed, step.item_count(), step.tensor_bytes(), message);
}

void JournalFeed::tend(bool idle) {
  const std::int64_t now = clock_.steady_ns();
  if (idle || now - last_poll_ns_ >= kPollIntervalNs) {
    last_poll_ns_ = now;
    look_at_requests();
  }
  let_judge_write();
  take_capture_requests();
  write_events();
  sync_when_due();
  journal_->beat();
}

Status JournalFeed::write_dump(const BoxDump& dump) {
  const auto path = no_throw([&] { return dumper_->write(dump); });
  if (path.ok()) {
    log(LogLevel::kInfo, "the black box was written to {}: {}", *path, dump.reason.message);
  } else {
    log(LogLevel::kError, "the black box could not be written: {}", path.status().to_string());
  }
  unwritten_events_.push_back({encode_black_box_event(dump.reason, path), {}});
  return path.status();
}

Status JournalFeed::write_operators(const StepCalls& calls) {
  const std::uint64_t count = calls.calls.count();
  const Status status = no_throw([&] { return tried(journal_->append_operators(make_operator_batch(calls))); });
  if (status.ok()) {
    written_.operator_calls += count;
    return status;
  }
  const auto message = [&] {
    return fmt::format("operator calls of step {}: {}", calls.id.global_step, status.to_string());
  };
  last_lost_step_ = calls.id;
  untold_losses_.add(LossCause::kWriteFailed, count, 0, message);
  losses_.add(LossCause::kWriteFailed, count, 0, message);
  return status;
}

void JournalFeed::take_black_box_requests() {
  if (dumper_ == nullptr) return;
  for (const BlackBoxReason& reason : dumper_->requests()) {
    if (std::string path = dumper_->written_with(reason.failing_step); !path.empty()) {
      unwritten_events_.push_back({encode_black_box_event(reason, std::move(path)), {}});
    } else if (const auto dump = dumper_->begin(reason)) {
      static_cast<void>(write_dump(*dump));  // reported and logged there
    } else {
      const Status refused(Code::kFailedPrecondition, "nothing is held, or it was written as often as it may be");
      unwritten_events_.push_back({encode_black_box_event(reason, refused), {}});
    }
  }
}

void JournalFeed::take_checkpoint_requests() {
  if (checkpoints_ == nullptr) return;
  const bool begun = training_.current().global_step != first_step_;
  enqueue(checkpoints_->look(begun, last_step()));
}

void JournalFeed::enqueue(const CheckpointRequests::Events& events) {
  for (const format::CheckpointEvent& event : events) enqueue(format::encode_checkpoint_event(event));
}

// Who asks for something and then for a stop gets both. So stops are read first and obeyed last: what was asked for
// before one of them is there when the others are looked for, and the training gets it no later than the stop.
void JournalFeed::look_at_requests() {
  std::vector<format::StopRequest> stops = stop_requests_.poll();
  take_black_box_requests();
  take_checkpoint_requests();
  if (profiles_ != nullptr) profiles_->look();
  if (examinations_ != nullptr) examinations_->look();
  for (format::StopRequest& stop : stops) take_stop_request(std::move(stop));
}

void JournalFeed::take_stop_request(format::StopRequest request) {
  enqueue(encode_stop_accepted(request, training_.current().global_step));
  std::lock_guard lock(stop_mutex_);
  if (first_stop_ != nullptr) return;
  first_stop_ = std::make_unique<format::StopRequest>(std::move(request));
  stop_.store(first_stop_.get(), std::memory_order_release);
}

// What is accepted is reported by the training, when it begins.
void JournalFeed::take_capture_requests() {
  const std::int64_t now = clock_.steady_ns();
  if (now - last_capture_poll_ns_ < kCapturePollIntervalNs) return;
  last_capture_poll_ns_ = now;
  const bool config = now - last_config_look_ns_ >= kConfigIntervalNs;
  if (config) last_config_look_ns_ = now;
  for (const format::CaptureAnswer& refused : changes_.look(config)) {
    log(LogLevel::kWarning, "{} does not change what is captured: {}", refused.source, refused.error);
    unwritten_events_.push_back({format::encode_capture_answer(refused), {}});
  }
}

void JournalFeed::enqueue(std::string event, std::optional<std::vector<Collection>> collections) {
  std::lock_guard lock(queue_mutex_);
  queued_events_.push_back({std::move(event), std::move(collections)});
}

void JournalFeed::take_told_events() {
  std::lock_guard lock(queue_mutex_);
  std::move(queued_events_.begin(), queued_events_.end(), std::back_inserter(unwritten_events_));
  queued_events_.clear();
}

void JournalFeed::write_events() {
  take_told_events();
  while (!unwritten_events_.empty() && !must_wait(unwritten_events_.front()) &&
         append_queued(unwritten_events_.front()).ok()) {
    unwritten_events_.erase(unwritten_events_.begin());
  }
}

// With other collections a segment begins, and one that has parts of a step needs the step's end first.
bool JournalFeed::must_wait(const Event& event) const {
  return event.collections && parts_.any();
}

// The steps of a segment that could not be sealed are as safe as before, and the next one lists the collections.
Status JournalFeed::append_queued(Event& event) {
  if (event.collections) {
    const Status sealed = journal_->change_collections(*std::exchange(event.collections, std::nullopt));
    if (!sealed.ok()) log(LogLevel::kWarning, "a segment stays without its index: {}", sealed.to_string());
  }
  return append_event(event.json);
}

Status JournalFeed::append_event(const std::string& json) {
  return tried(journal_->append_event(format::FrameKind::kEvent, -1, json));
}

void JournalFeed::sync_when_due() {
  if (durability_ != Durability::kInterval || !unsynced_) return;
  const std::int64_t now = clock_.steady_ns();
  if (now - last_sync_ns_ < kSyncIntervalNs) return;
  last_sync_ns_ = now;
  unsynced_ = false;
  static_cast<void>(sync());  // reported there
}

// A failure is written to the run with the next step.
Status JournalFeed::sync() {
  Status status = journal_->sync();
  if (status.ok()) return status;
  log(LogLevel::kError, "what was written last may not survive a power loss: {}", status.to_string());
  const auto message = [&] { return status.to_string(); };
  untold_syncs_.add(LossCause::kSyncFailed, 1, 0, message);
  losses_.add(LossCause::kSyncFailed, 1, 0, message);
  return status;
}

Status JournalFeed::finish() {
  if (checkpoints_ != nullptr) {
    take_checkpoint_requests();
    enqueue(checkpoints_->refuse_rest(last_step()));
  }
  if (StepJudge* const judge = judge_.load(std::memory_order_acquire)) judge->finish();
  Status status = write_end();
  for (int attempt = 1; !status.ok() && attempt < kTriesToEnd; ++attempt) {
    std::this_thread::sleep_for(kPauseBetweenTries);
    status = write_end();
  }
  if (status.ok() && durability_ != Durability::kNone) status = sync();
  const Status sealed = journal_->seal();
  journal_.reset();
  return status.ok() ? sealed : status;
}

// The last losses are written under the step that was lost last: it is then there, with nothing in it.
Status JournalFeed::write_end() {
  if (!untold_losses_.empty()) {
    journal::StepBatch batch;
    batch.global_step = last_lost_step_.global_step;
    batch.mode = last_lost_step_.mode;
    batch.mode_step = last_lost_step_.mode_step;
    batch.losses = untold_losses_.rows();
    TRAINWARDEN_RETURN_IF_ERROR(tried(journal_->append_step(batch)));
    untold_losses_ = LossTally();
  }
  write_events();
  format::RunEndEvent end;
  const format::StopRequest* const stopped_by = stop();
  end.stopped = stopped_by != nullptr;
  if (end.stopped) end.reason = stopped_by->reason;
  return append_event(format::encode_run_end(end));
}

}  // namespace trainwarden::capture
