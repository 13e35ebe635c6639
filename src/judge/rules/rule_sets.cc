#include "judge/rules/rule_sets.h"

#include <algorithm>

#include "judge/rules/run_diagnosis.h"
#include "trainwarden/rule.h"

namespace trainwarden::rules {
namespace {

std::vector<std::string> rules_with(bool RuleDescription::*property) {
  std::vector<std::string> specs;
  for (const RuleKind& kind : builtin_rules()) {
    if (kind.description.*property) specs.push_back(kind.description.name);
  }
  // What explains the others is told first.
  std::stable_partition(specs.begin(), specs.end(), [](const std::string& name) { return name == kDiagnosisRule; });
  return specs;
}

// Where a default of ours is not what is documented there, the parameter says so.
std::vector<std::string> documented_by_sagemaker() {
  return {"VanishingGradient",
          "ExplodingTensor:allow_masks=False",
          "PoorWeightInitialization",
          "SaturatedActivation:min_samples=1",
          "DeadRelu:min_samples=1,patience=1",
          "WeightUpdateRatio",
          "LossNotDecreasing",
          "Overfit",
          "Overtraining:require=any",
          "ClassImbalance",
          "Confusion",
          "StalledTrainingRule",
          "CheckInputImages",
          "NLPSequenceRatio",
          "FeatureImportanceOverweight",
          "TreeDepth"};
}

}  // namespace

std::optional<std::vector<std::string>> rule_set(std::string_view name) {
  if (name == "default") return rules_with(&RuleDescription::by_default);
  if (name == "profiler") return rules_with(&RuleDescription::profiles);
  if (name == "sagemaker") return documented_by_sagemaker();
  return std::nullopt;
}

}  // namespace trainwarden::rules
