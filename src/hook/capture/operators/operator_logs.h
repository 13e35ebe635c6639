// OperatorLogs: the operator calls of all threads, while a window is open.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/base/clock.h"
#include "hook/capture/operators/call_log.h"
#include "hook/capture/operators/memory_log.h"
#include "hook/capture/operators/operator_names.h"
#include "hook/capture/operators/stack_log.h"
#include "hook/capture/operators/track_log.h"
#include "trainwarden/operator_recorder.h"

namespace trainwarden::capture {

// What was collected from the threads when a step ended.
struct CollectedCalls {
  struct Thread {
    std::uint64_t id = 0;  // as the system counts them
    std::vector<LoggedCall> calls;
  };
  std::vector<Thread> threads;
  CollectedStacks stacks;
  CollectedTracks tracks;
  std::vector<MemoryChange> memory;
  std::int64_t unix_offset_ns = 0;  // wall time minus that of the steady clock
  std::uint64_t lost = 0;

  std::uint64_t count() const;  // of calls of operators
  void lose_calls();            // those of threads
};

class OperatorLogs {
 public:
  static constexpr std::size_t kMaxThreads = 1024;  // what others call is lost

  // Is never destroyed, since a thread may be inside a call of it at any time. One for each hook.
  static OperatorLogs& create();

  OperatorRecorder& recorder() { return recorder_; }
  const OperatorNames& names() const { return names_; }
  StackLog& stacks() { return stacks_; }

  // From any thread, as of OperatorRecorder.
  bool is_recording() const noexcept;
  void begin(const void* key, const char* name, OperatorKind kind, std::int64_t sequence) noexcept;
  void end(const void* key) noexcept;
  void add(std::string_view track, std::string_view name, OperatorKind kind, std::int64_t begin_ns,
           std::int64_t end_ns) noexcept;
  void note_memory(std::int32_t device, std::int64_t total_bytes) noexcept;
  void add_stacks(std::span<const ThreadStack> stacks, std::int64_t cost_ns) noexcept;

  // The rest for the thread that drives training. A window begins now; `clock` must outlive it.
  void open(const Clock& clock);
  // So many calls may be logged from now on, kMaxWindowCalls in a new window; more are lost.
  void set_room(std::int64_t calls) { room_.set(calls); }
  bool is_full() const { return room_.is_used_up(); }
  // The calls that have ended since the last time, in this window.
  CollectedCalls take();
  void close() { recording_.store(false, std::memory_order_release); }

 private:
  OperatorLogs() = default;
  CallLog* log_of_this_thread() noexcept;
  CallLog* add_this_thread();

  OperatorRecorder recorder_{*this};
  OperatorNames names_;
  StackLog stacks_;
  TrackLog tracks_;
  MemoryLog memory_;
  CallRoom room_;

  std::atomic<bool> recording_ = false;
  // Of the window: they change while nothing is recorded.
  std::atomic<const Clock*> clock_ = nullptr;
  std::atomic<std::uint32_t> window_ = 0;
  std::atomic<std::uint32_t> fork_generation_ = 0;
  std::int64_t unix_offset_ns_ = 0;
  std::atomic<std::uint64_t> lost_ = 0;  // that came to no log

  std::mutex mutex_;
  std::vector<std::unique_ptr<CallLog>> logs_;  // guarded by mutex_

  OperatorLogs* next_ = nullptr;  // of all that there are
};

}  // namespace trainwarden::capture
