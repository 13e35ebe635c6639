// Operator calls as people look at them: which steps have them, one step call by call, all steps as a flame graph.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainwarden/operator_calls.h"
#include "trainwarden/status.h"
#include "trainwarden/trial.h"
#include "ui/views/shelf.h"

namespace trainwarden::views {

// One step of one worker that has calls.
struct StepOfCalls {
  std::string worker;
  std::int64_t step = 0;
  std::uint64_t calls = 0;
  std::uint64_t lost_calls = 0;
  bool has_stacks = false;  // Python's, sampled
};

// What was counted is remembered with the run. Of more steps than these the newest are there.
inline constexpr std::size_t kMostOperatorWindows = 2'000;
Result<std::vector<StepOfCalls>> read_operator_windows(const OpenRun::Use& run);

struct CallQuestion {
  std::int64_t step = 0;            // global
  std::string worker;               // empty: the first that has calls of the step
  std::vector<OperatorKind> kinds;  // none: all
};

// kInvalidArgument for a word that is no kind's name.
Result<std::vector<OperatorKind>> operator_kinds(const std::vector<std::string>& words);

// One entry a call, by track, then by start.
struct CallColumns {
  std::string worker;
  std::int64_t start_unix_ns = 0;  // of the first call; times are since then
  std::uint64_t lost_calls = 0;
  std::vector<std::string> names;
  std::vector<std::string> tracks;
  std::vector<std::uint32_t> name;   // index into names
  std::vector<std::uint16_t> track;  // index into tracks
  std::vector<std::uint8_t> kind;
  std::vector<std::uint16_t> depth;  // calls around it, on its track
  std::vector<double> start_ns;
  std::vector<double> duration_ns;
  std::vector<double> sequence;  // -1: none
  // One entry a change of memory, by time.
  std::vector<double> memory_time_ns;
  std::vector<double> memory_bytes;
  std::vector<double> memory_total;
  std::vector<std::int32_t> memory_device;
};

// Errors as Trial::operators().
Result<CallColumns> read_call_columns(Trial& trial, const CallQuestion& question);

// Nodes of a flame graph; those that took least are left out of more.
inline constexpr std::size_t kMostFlameRows = 20'000;

struct FlameRow {
  std::int64_t parent = -1;  // index of an earlier node; -1: the root
  std::uint32_t name = 0;
  double self_us = 0;
  double total_us = 0;
  std::uint64_t calls = 0;
};
struct FlameAnswer {
  std::vector<std::string> names;
  std::vector<FlameRow> nodes;
};

// Of the operators, or of Python's sampled stacks; `worker` empty: of all, with a stack of their own each. kNotFound
// when there are none.
Result<FlameAnswer> read_flame(Trial& trial, bool of_stacks, const std::string& worker);

}  // namespace trainwarden::views
