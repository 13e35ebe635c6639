#include "hook/capture/writing/step_writer.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <ctime>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/base/log.h"
#include "core/base/no_throw.h"

namespace trainwarden::capture {
namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds kIdleInterval = std::chrono::milliseconds(20);
// Between steps that follow each other, so that a request to stop is seen before the next of them ends.
constexpr nanoseconds kBusyInterval = std::chrono::milliseconds(4);
constexpr int kBusyLooks = 250;  // then nothing comes any more
// Where a budget holds: a look, with its change of thread and the folders that it reads, takes some 75 µs.
constexpr nanoseconds kSeldomInterval = std::chrono::milliseconds(100);
constexpr nanoseconds kLongestWait = std::chrono::hours(24 * 365);

// The training program's signals are for its own threads: one started in here has none delivered to it.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

StepWriter::StepWriter(std::unique_ptr<JournalFeed> feed) : feed_(std::move(feed)) {}

StepWriter::~StepWriter() {
  queue_.close();
}

Status StepWriter::start() {
  try {
    const SignalsBlocked blocked;
    thread_ = std::jthread([this] { run(); });
    return Status();
  } catch (const std::system_error& error) {
    return Status(Code::kResourceExhausted, fmt::format("no thread for writing: {}", error.what()));
  }
}

std::int64_t StepWriter::cpu_ns() const {
  clockid_t clock{};
  timespec now{};
  auto& thread = const_cast<std::jthread&>(thread_);  // native_handle() changes nothing
  if (!thread_.joinable() || ::pthread_getcpuclockid(thread.native_handle(), &clock) != 0) return 0;
  if (::clock_gettime(clock, &now) != 0) return 0;
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

bool StepWriter::submit(std::unique_ptr<StagedStep>& step, bool wait_for_room) {
  step->share.hand_over();
  const bool submitted = step->parts > 0 ? queue_.push_beyond(std::move(step))
                         : wait_for_room ? queue_.push(std::move(step))
                                         : queue_.try_push(step);
  std::lock_guard lock(mutex_);
  if (submitted) ++submitted_;
  return submitted;
}

Status StepWriter::flush(nanoseconds timeout) {
  std::unique_lock lock(mutex_);
  const std::uint64_t wanted = submitted_;
  const bool settled =
      settled_changed_.wait_for(lock, std::min(timeout, kLongestWait), [&] { return settled_ >= wanted; });
  if (!settled) {
    return Status(Code::kDeadlineExceeded,
                  fmt::format("{} steps, or parts of steps, still wait to be written", wanted - settled_));
  }
  return std::exchange(first_failure_, Status());
}

Status StepWriter::finish(std::unique_ptr<StagedStep> last_step, nanoseconds timeout) {
  {
    std::lock_guard lock(mutex_);
    if (last_step != nullptr) ++submitted_;
    last_step_ = std::move(last_step);
  }
  queue_.close();
  {
    std::unique_lock lock(mutex_);
    if (!settled_changed_.wait_for(lock, timeout, [&] { return finished_; })) {
      return Status(Code::kDeadlineExceeded,
                    fmt::format("the storage does not answer: {} steps, or parts of steps, were not written",
                                submitted_ - settled_));
    }
  }
  thread_.join();
  return finish_status_.ok() ? first_failure_ : finish_status_;
}

void StepWriter::run() {
  ::pthread_setname_np(::pthread_self(), "tw-writer");
  int looks = 0;  // since the last step
  while (true) {
    const nanoseconds interval = seldom_ ? kSeldomInterval : looks < kBusyLooks ? kBusyInterval : kIdleInterval;
    std::optional<std::unique_ptr<StagedStep>> step = queue_.pop(interval);
    looks = step ? 0 : std::min(looks + 1, kBusyLooks);
    if (step) write(*std::move(step));
    if (!step && queue_.closed() && queue_.size() == 0) break;
    tend(!step.has_value());
  }
  end_run();
}

void StepWriter::tend(bool idle) {
  const Status status = no_throw([&] {
    feed_->tend(idle);
    if (idle && at_looks_) at_looks_();
    return Status();
  });
  if (!status.ok()) log(LogLevel::kError, "the writer thread: {}", status.to_string());
}

void StepWriter::end_run() {
  std::unique_ptr<StagedStep> last_step;
  {
    std::lock_guard lock(mutex_);
    last_step = std::move(last_step_);
  }
  if (last_step != nullptr) write(std::move(last_step));
  Status status = no_throw([&] { return feed_->finish(); });
  {
    std::lock_guard lock(mutex_);
    finish_status_ = std::move(status);
    finished_ = true;
  }
  settled_changed_.notify_all();
}

void StepWriter::write(std::unique_ptr<StagedStep> step) {
  Status status = no_throw([&] { return feed_->write(*step); });
  step.reset();  // its memory is free before anybody hears that it is settled
  {
    std::lock_guard lock(mutex_);
    ++settled_;
    if (first_failure_.ok()) first_failure_ = std::move(status);
  }
  settled_changed_.notify_all();
}

}  // namespace trainwarden::capture
