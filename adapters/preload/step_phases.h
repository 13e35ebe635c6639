// StepPhases: what the wall time of a train step was spent on (docs/format/phases.md), each nanosecond in exactly one
// phase: the innermost of those that are open. Knows neither LibTorch nor a hook.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <string_view>
#include <vector>

namespace trainwarden::torch {

enum class Phase : std::size_t { kRest, kBackward, kOptimizer, kZeroGrad, kEvaluation, kCapture };
inline constexpr std::array<std::string_view, 6> kPhaseNames = {"rest",      "backward",   "optimizer",
                                                                "zero_grad", "evaluation", "capture"};

class StepPhases {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Spent = std::array<std::chrono::nanoseconds, kPhaseNames.size()>;  // by Phase

  explicit StepPhases(Time now) : settled_(now) {}

  void begin(Phase phase, Time now);
  // Also ends what an exception has left open in it. One that has not begun is none.
  void end(Phase phase, Time now);
  // What lies between is our own work, whatever begins and ends meanwhile.
  void capture_begins(Time now);
  void capture_ends(Time now);
  // While the program evaluates its model nothing else is a phase but our own work.
  void evaluate(bool on, Time now);
  // Ends the step. What was open no longer is. The sum is the time since the last step ended.
  Spent take(Time now);

 private:
  void settle(Time now);

  std::vector<Phase> open_;
  Spent spent_{};
  Time settled_;  // until when time has been charged
  bool capturing_ = false;
  bool evaluating_ = false;
};

}  // namespace trainwarden::torch
