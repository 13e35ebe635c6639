// FiniteSurvey: which tensors of a step hold NaN or infinities, in the order in which the step computed them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "judge/rules/step_statistics.h"
#include "judge/rules/training_facts.h"
#include "trainwarden/rule.h"

namespace trainwarden::rules {

// The parts of a step as they follow each other. State: weights, biases and buffers after the optimizer's step.
enum class StepPhase : std::uint8_t { kBatch, kOutputs, kLosses, kGradients, kState };
inline constexpr std::size_t kStepPhaseCount = 5;
std::string_view name(StepPhase phase);  // "batch", "output", "loss", "gradient", "weight"

struct NonFiniteTensor {
  TensorSpot spot;
  StepPhase phase = StepPhase::kBatch;
  std::string quantity;  // "nan_count", "inf_count", or the single reduction that shows it: "mean"
  double value = 0;      // of the quantity
  bool has_nan = false;
  bool negative_only = false;  // nothing but -infinity, as masks and logarithms of zero have
};

struct FiniteSurvey {
  std::vector<NonFiniteTensor> found;  // in the order of execution, as far as that is known
  std::array<std::size_t, kStepPhaseCount> judged{};
  JudgingGaps gaps;

  std::size_t judged_in(StepPhase phase) const { return judged[static_cast<std::size_t>(phase)]; }
  std::size_t judged_count() const;
};

// Outputs are ordered as the modules are in the model, gradients the other way round; tensors of modules that `facts`
// does not know by the numbers in their names. Losses that lie among the outputs count as losses.
FiniteSurvey survey_step(const StepWindow& window, const TrainingFacts& facts);

// The collections that are looked at.
std::vector<std::string> surveyed_collections();

// "layer2" comes before "layer10".
bool natural_less(std::string_view a, std::string_view b);

}  // namespace trainwarden::rules
