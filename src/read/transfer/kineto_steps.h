// Kineto steps: the calls of a trace of PyTorch's profiler divided into train steps and their phases, which nobody
// wrote down as such.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/operator_calls.h"

namespace trainwarden::transfer {

// Calls in any order; the first are indices of the batch's tables, as of an OperatorBatch.
struct KinetoCalls {
  std::vector<std::string> names;
  std::vector<OperatorTrack> tracks;
  std::vector<OperatorCall> calls;
};

struct KinetoStep {
  std::int64_t number = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;  // where the next one begins
  // Seconds of the training thread by phase (docs/format/phases.md), which sum to the step; empty where no thread
  // trains.
  std::map<std::string, double> phases{};
};

// How steps were found.
enum class StepMarks : std::uint8_t {
  kProfilerSteps,  // by the profiler's own marks, "ProfilerStep#5"
  kBatches,        // a step begins with the wait for a batch
  kNone,           // nothing marks them: all is one step
};

struct DividedTrace {
  StepMarks marks = StepMarks::kNone;
  std::vector<KinetoStep> steps;  // by time; never empty when there are calls
};

inline constexpr std::size_t kMaxKinetoSteps = 100'000;  // what follows is left out

// Sorts the calls by time.
DividedTrace divide_trace(KinetoCalls& calls);

// Name and category of an event: what it is. kUnknown: not a call.
OperatorKind kineto_kind(std::string_view category, std::string_view name);

}  // namespace trainwarden::transfer
