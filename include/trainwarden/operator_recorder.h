// OperatorRecorder: takes the operator calls of a training, from all of its threads, while the hook wants them.
//
//   if (hook->wants_operators()) {                                // asked when a step begins
//     recorder.begin(&call, "aten::mm", OperatorKind::kOperator); // in the thread that calls, as the operator begins
//     recorder.end(&call);                                        // and ends
//   }
//
// A pair costs about 100 ns. What finds no room is counted as lost, in the batch of its step.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string_view>

#include "trainwarden/export.h"
#include "trainwarden/operator_calls.h"

namespace trainwarden {

namespace capture {
class OperatorLogs;
}  // namespace capture

// What one thread of an interpreter is in at this moment, the outermost function first.
struct ThreadStack {
  std::uint64_t thread_id = 0;  // as the system counts them
  std::string_view thread_name{};
  std::span<const std::uint32_t> frames{};  // of OperatorRecorder::frame_number()
};

// All calls from any thread; none throws or waits for a file, and begin() takes no lock where a name was seen before.
// It outlives its hook: a thread may come back from an operator when the hook is closed, and then nothing happens.
class TRAINWARDEN_API OperatorRecorder {
 public:
  explicit OperatorRecorder(capture::OperatorLogs& logs) : logs_(logs) {}
  OperatorRecorder(const OperatorRecorder&) = delete;
  OperatorRecorder& operator=(const OperatorRecorder&) = delete;

  // One load. False: the other calls do nothing.
  bool is_recording() const noexcept;

  // A call begins. `key` says which one it is until it ends, in this thread: its address. `name` is copied, if it is
  // new; it is quickest when a name comes from the same address each time.
  void begin(const void* key, const char* name, OperatorKind kind, std::int64_t sequence = -1) noexcept;
  // It ends. Of a key that did not begin in this thread nothing is known; calls inside it that have not ended are lost.
  void end(const void* key) noexcept;

  // A call that is over, with the times that the caller has taken of it: what a network or another thread did. It is on
  // a track of this name, where calls lie within each other or apart. It belongs to the current step. Both names are
  // copied; this takes a lock.
  void add(std::string_view track, std::string_view name, OperatorKind kind,
           std::chrono::steady_clock::time_point begin, std::chrono::steady_clock::time_point end) noexcept;

  // The number of a function's name, for ThreadStack, in all windows of this hook. It is copied.
  std::uint32_t frame_number(std::string_view name) noexcept;
  // A sample of all threads. Each stack stands for the time since the sample before: neighbours that begin alike become
  // calls of kind kPythonStack, which end with a step and begin anew with the next. `cost_ns`: what taking the sample
  // cost the training, for its bill.
  void add_stacks(std::span<const ThreadStack> stacks, std::int64_t cost_ns) noexcept;

  // So much memory of a device (-1: the host) is in use at this moment.
  void note_memory(std::int32_t device, std::int64_t total_bytes) noexcept;

 private:
  capture::OperatorLogs& logs_;
};

}  // namespace trainwarden
