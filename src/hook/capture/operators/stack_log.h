// StackLog: samples of the stacks of an interpreter's threads, on their way to the thread that collects them, as calls.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hook/capture/operators/call_log.h"
#include "hook/capture/operators/operator_names.h"
#include "trainwarden/operator_recorder.h"

namespace trainwarden::capture {

// What was collected of them when a step ended.
struct CollectedStacks {
  struct Thread {
    std::uint64_t id = 0;
    std::string name;
    std::vector<LoggedCall> calls;
  };
  std::vector<Thread> threads;
  std::uint64_t lost = 0;
  std::int64_t cost_ns = 0;  // what the samples cost the training

  std::uint64_t count() const;
};

// A stack stands for the time since the sample before it: who asks for a sample waits until the interpreter lets it
// run, and what went on meanwhile is rather what is seen then than what was seen before. So a function is open from the
// sample before the first one that has it to the last one that has it without a break.
//
// Any thread, under a lock: there are some hundred samples a second.
class StackLog {
 public:
  static constexpr std::size_t kMaxDepth = 256;                   // what is deeper is left out
  static constexpr std::size_t kMaxThreads = 64;                  // in one sample; the others are left out
  static constexpr std::size_t kMaxTracks = 1024;                 // threads until they are collected
  static constexpr std::size_t kMaxCalls = std::size_t{1} << 17;  // that wait to be collected; what comes then is lost

  const OperatorNames& names() const { return names_; }
  // OperatorNames::kOther when there is no room for it.
  std::uint32_t number_of(std::string_view name) noexcept;

  // A window begins now. What is left of the one before is thrown away.
  void open(std::int64_t now_ns);
  void add(std::span<const ThreadStack> stacks, std::int64_t now_ns, std::int64_t cost_ns) noexcept;
  // What was sampled since the last time. What is open ends with the last sample, and begins anew there.
  CollectedStacks take();

 private:
  struct Open {
    std::uint32_t frame = 0;
    std::int64_t start_ns = 0;
  };
  struct Thread {
    std::string name;
    std::vector<Open> open;
    std::vector<LoggedCall> calls;
    std::uint64_t sample = 0;  // that saw it last
  };
  void add_stack(const ThreadStack& stack);
  void end_from(Thread& thread, std::size_t depth);

  OperatorNames names_;
  std::mutex mutex_;  // guards the rest
  std::map<std::uint64_t, Thread> threads_;
  std::int64_t last_ns_ = 0;  // when the last sample was taken
  std::uint64_t samples_ = 0;
  std::size_t calls_ = 0;  // of all threads
  std::uint64_t lost_ = 0;
  std::int64_t cost_ns_ = 0;
};

}  // namespace trainwarden::capture
