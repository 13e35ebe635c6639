// StepWriter: the thread that takes ended steps from a bounded queue and feeds them to the journal.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/bounded_queue.h"
#include "hook/capture/staging/staged_step.h"
#include "hook/capture/writing/journal_feed.h"
#include "trainwarden/status.h"

namespace trainwarden::capture {

// All calls come from the one thread that drives training, but for stop() and written().
class StepWriter {
 public:
  // Enough that the staging area, not the queue, is what fills up.
  static constexpr std::size_t kMaxWaitingSteps = 4096;

  explicit StepWriter(std::unique_ptr<JournalFeed> feed);
  // Only when the thread is known to end: after finish() was ok or was never called.
  ~StepWriter();

  // Before start().
  // `look` is called as often as requests are looked for, in this thread.
  void call_at_looks(std::function<void()> look) { at_looks_ = std::move(look); }
  void write_dumps_with(BoxDumper& dumper) { feed_->write_dumps_with(dumper); }
  void keep_within(std::unique_ptr<SpaceKeeper> space) { feed_->keep_within(std::move(space)); }
  void look_for(CheckpointRequests& requests) { feed_->look_for(requests); }
  void look_for(ProfileRequests& requests) { feed_->look_for(requests); }
  void look_for(ExamineRequests& requests) { feed_->look_for(requests); }
  // For a training with a budget: a request may come some steps later.
  void look_seldom() { seldom_ = true; }

  // kResourceExhausted when the system gives no thread.
  Status start();

  // False, leaving `step` alone, when too many steps wait and `wait_for_room` is not set. The end of a step whose parts
  // are with the writer always has room: without it they would be lost.
  bool submit(std::unique_ptr<StagedStep>& step, bool wait_for_room);

  // Waits until every submitted step has been written. The first failure since the last flush, or kDeadlineExceeded.
  Status flush(std::chrono::nanoseconds timeout);

  // Writes what waits and then `last_step` (there may be none), ends the run and ends the thread. kDeadlineExceeded:
  // the thread is stuck in the storage, and this object must be left alone forever.
  Status finish(std::unique_ptr<StagedStep> last_step, std::chrono::nanoseconds timeout);

  // An event for the run; from any thread.
  void enqueue(std::string event, std::optional<std::vector<Collection>> collections = {}) {
    feed_->enqueue(std::move(event), std::move(collections));
  }
  void enqueue(const CheckpointRequests::Events& events) { feed_->enqueue(events); }

  // Before the first step; it must outlive this.
  void set_judge(StepJudge* judge) { feed_->set_judge(judge); }
  // The training asks itself to stop. From any thread.
  void stop(format::StopRequest request) { feed_->take_stop_request(std::move(request)); }
  const format::StopRequest* stop() const { return feed_->stop(); }
  const WrittenCounts& written() const { return feed_->written(); }
  // CPU time of the thread so far; once it has ended, 0.
  std::int64_t cpu_ns() const;

 private:
  void run();
  void write(std::unique_ptr<StagedStep> step);
  void tend(bool idle);
  void end_run();

  const std::unique_ptr<JournalFeed> feed_;
  bool seldom_ = false;
  std::function<void()> at_looks_;
  BoundedQueue<std::unique_ptr<StagedStep>> queue_{kMaxWaitingSteps};

  std::mutex mutex_;
  std::condition_variable settled_changed_;
  std::uint64_t submitted_ = 0;  // steps
  std::uint64_t settled_ = 0;    // of them, written or lost
  Status first_failure_;         // since the last flush
  std::unique_ptr<StagedStep> last_step_;
  bool finished_ = false;
  Status finish_status_;

  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace trainwarden::capture
