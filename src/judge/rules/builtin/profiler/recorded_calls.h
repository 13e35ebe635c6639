// RecordedCalls: the operator calls of the steps that a run recorded, each once, as a rule over steps comes by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "judge/rules/builtin/profiler/phase_shares.h"
#include "trainwarden/operator_calls.h"
#include "trainwarden/rule.h"

namespace trainwarden::rules {

// A train step of which the calls were recorded.
struct RecordedStep {
  OperatorBatch batch;
  // Of the step, without capture and about what recording took; from its first to its last call where not known.
  std::int64_t wall_ns = 0;
  std::int64_t computing_ns = 0;  // of its phases in kComputing, with what recording took; 0: not known
};

// Where the program's own code runs, and what it asks of the model.
inline constexpr Phase kComputing[] = {Phase::kForward, Phase::kLoss, Phase::kRest};

// What recording a call takes, about: it is in the times of recorded steps, and not in those of the others.
inline constexpr std::int64_t kRecordingNs = 300;

// Of the scope that PyTorch names around step() and zero_grad().
inline constexpr std::string_view kOptimizerScopePrefix = "Optimizer.";

// Reads at most so much over a run; what comes later is not looked at. A rule that judges a training as it is needs no
// more than a few steps.
class RecordedCalls {
 public:
  static constexpr std::size_t kMostSteps = 32;
  static constexpr std::size_t kMostCalls = std::size_t{1} << 21;
  static constexpr std::size_t kMostAtOnce = 4;

  // Train steps of the first worker that were recorded since, up to kMostAtOnce. None inside the training, and where
  // nothing was recorded.
  std::vector<RecordedStep> take(const StepWindow& window);
  std::size_t steps() const { return steps_; }  // that were given

 private:
  std::int64_t last_step_ = -1;
  std::size_t steps_ = 0;
  std::size_t calls_ = 0;
};

}  // namespace trainwarden::rules
