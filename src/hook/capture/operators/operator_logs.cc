#include "hook/capture/operators/operator_logs.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <utility>

#include "hook/capture/fork_guard.h"
#include "trainwarden/hook.h"

namespace trainwarden::capture {
namespace {

std::atomic<OperatorLogs*> all_logs = nullptr;

// Where a thread finds its log. Without a destructor, since operators may run after a thread's variables are gone.
struct LogSlot {
  const OperatorLogs* owner = nullptr;
  CallLog* log = nullptr;
  bool thread_ends = false;
};
constinit thread_local LogSlot log_slot;

// Says that the thread will log no more.
struct LogEnd {
  ~LogEnd() {
    if (log_slot.log != nullptr) log_slot.log->end_thread();
    log_slot = {nullptr, nullptr, true};
  }
  bool armed = false;
};
thread_local LogEnd log_end;

std::uint64_t this_thread_id() {
  return static_cast<std::uint64_t>(::syscall(SYS_gettid));
}

}  // namespace

std::uint64_t CollectedCalls::count() const {
  std::uint64_t count = 0;
  for (const Thread& thread : threads) count += thread.calls.size();
  return count + tracks.count();
}

void CollectedCalls::lose_calls() {
  for (const Thread& thread : threads) lost += thread.calls.size();
  threads.clear();
}

OperatorLogs& OperatorLogs::create() {
  auto* const logs = new OperatorLogs;
  logs->next_ = all_logs.load(std::memory_order_relaxed);
  while (!all_logs.compare_exchange_weak(logs->next_, logs, std::memory_order_release)) {
  }
  return *logs;
}

bool OperatorLogs::is_recording() const noexcept {
  return recording_.load(std::memory_order_acquire) &&
         fork_generation_.load(std::memory_order_relaxed) == fork_generation();
}

void OperatorLogs::begin(const void* key, const char* name, OperatorKind kind, std::int64_t sequence) noexcept {
  if (!is_recording()) return;
  if (room_.is_used_up()) {
    lost_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  try {
    if (CallLog* const log = log_of_this_thread()) {
      const std::uint32_t number = names_.number_of(name, log->names());
      const std::int64_t now = clock_.load(std::memory_order_relaxed)->steady_ns();
      log->begin(window_.load(std::memory_order_relaxed), key,
                 {.start_ns = now, .sequence = sequence, .name = number, .kind = kind});
      return;
    }
  } catch (...) {
    // No memory for a name that is new, or for a lock.
  }
  lost_.fetch_add(1, std::memory_order_relaxed);
}

void OperatorLogs::end(const void* key) noexcept {
  if (!is_recording() || log_slot.owner != this) return;
  const std::int64_t now = clock_.load(std::memory_order_relaxed)->steady_ns();
  log_slot.log->end(window_.load(std::memory_order_relaxed), key, now);
}

void OperatorLogs::add(std::string_view track, std::string_view name, OperatorKind kind, std::int64_t begin_ns,
                       std::int64_t end_ns) noexcept {
  if (!is_recording()) return;
  std::uint32_t number = OperatorNames::kOther;
  try {
    number = names_.number_of(name);
  } catch (...) {  // no memory for it
  }
  tracks_.add(track, {.start_ns = begin_ns, .duration_ns = end_ns - begin_ns, .name = number, .kind = kind});
}

void OperatorLogs::add_stacks(std::span<const ThreadStack> stacks, std::int64_t cost_ns) noexcept {
  if (!is_recording()) return;
  stacks_.add(stacks, clock_.load(std::memory_order_relaxed)->steady_ns(), cost_ns);
}

void OperatorLogs::note_memory(std::int32_t device, std::int64_t total_bytes) noexcept {
  if (!is_recording()) return;
  memory_.add(clock_.load(std::memory_order_relaxed)->steady_ns() + unix_offset_ns_, device, total_bytes);
}

CallLog* OperatorLogs::log_of_this_thread() noexcept {
  if (log_slot.owner == this) return log_slot.log;
  if (log_slot.thread_ends) return nullptr;
  try {
    return add_this_thread();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

// A thread that records for several hooks in turn has a log in each.
CallLog* OperatorLogs::add_this_thread() {
  const std::uint64_t id = this_thread_id();
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(logs_.begin(), logs_.end(),
                                  [&](const auto& log) { return log->thread_id() == id && !log->has_ended(); });
  if (found == logs_.end() && logs_.size() == kMaxThreads) return nullptr;
  CallLog* const log =
      found != logs_.end() ? found->get() : logs_.emplace_back(std::make_unique<CallLog>(id, room_)).get();
  log_slot = {this, log, false};
  log_end.armed = true;
  return log;
}

// What is left of the window before is thrown away.
void OperatorLogs::open(const Clock& clock) {
  take();
  set_room(kMaxWindowCalls);
  const std::int64_t now = clock.steady_ns();
  unix_offset_ns_ = clock.unix_ns() - now;
  stacks_.open(now);
  tracks_.open();
  memory_.open();
  clock_.store(&clock, std::memory_order_relaxed);
  window_.fetch_add(1, std::memory_order_relaxed);
  fork_generation_.store(fork_generation(), std::memory_order_relaxed);
  recording_.store(true, std::memory_order_release);
}

CollectedCalls OperatorLogs::take() {
  CollectedCalls collected{.threads = {},
                           .stacks = stacks_.take(),
                           .tracks = tracks_.take(),
                           .memory = memory_.take(),
                           .unix_offset_ns = unix_offset_ns_,
                           .lost = lost_.exchange(0)};
  collected.lost += collected.stacks.lost + collected.tracks.lost;
  const std::lock_guard lock(mutex_);
  for (auto log = logs_.begin(); log != logs_.end();) {
    const bool has_ended = (*log)->has_ended();
    CollectedCalls::Thread thread{(*log)->thread_id(), {}};
    (*log)->take(thread.calls);
    collected.lost += (*log)->take_lost();
    if (!thread.calls.empty()) collected.threads.push_back(std::move(thread));
    log = has_ended ? logs_.erase(log) : log + 1;
  }
  return collected;
}

}  // namespace trainwarden::capture
