// What rules have found, as causes: those of ours by a table, those of a user by the cause that they name.
#include <algorithm>
#include <array>
#include <utility>

#include "judge/diagnosis/causes.h"
#include "judge/diagnosis/finding.h"

namespace trainwarden::diagnosis {
namespace {

struct Meaning {
  std::string_view rule, cause;
  double confidence;
  std::string_view quantity = {};  // of the evidence, where a rule finds several things
};
// How sure a verdict is of the cause that it stands for.
constexpr std::array kMeanings = {Meaning{"MissingZeroGrad", "gradients_not_cleared", 0.9},
                                  Meaning{"CallOrder", "gradients_cleared_too_early", 0.8},
                                  Meaning{"ForgottenParameter", "parameters_not_in_optimizer", 0.8},
                                  Meaning{"NoOpUpdate", "optimizer_of_old_parameters", 0.8, "steps_unchanged"},
                                  Meaning{"NoOpUpdate", "updates_lost_to_rounding", 0.8, "steps_unchanged_of_16_bits"},
                                  Meaning{"NoOpUpdate", "graph_cut", 0.5, "steps_with_zero_gradient"},
                                  Meaning{"ReplicaDivergence", "replicas_differ", 0.93},
                                  Meaning{"MemoryLeak", "memory_leak", 0.9},
                                  Meaning{"Hang", "hang", 0.85},
                                  Meaning{"StalledTrainingRule", "hang", 0.6},
                                  Meaning{"InputBound", "slow_data_loading", 0.85},
                                  Meaning{"Dataloader", "slow_data_loading", 0.5},
                                  Meaning{"CheckpointIntegrity", "bad_checkpoint", 0.9},
                                  Meaning{"UnshuffledLabels", "data_not_shuffled", 0.85},
                                  Meaning{"SoftmaxLossMismatch", "output_activation", 0.88},
                                  Meaning{"DuplicateBatch", "same_batch_repeated", 0.7},
                                  Meaning{"ModeMistake", "training_mode_in_evaluation", 0.7},
                                  Meaning{"DeadRelu", "dead_relu", 0.6},
                                  Meaning{"SaturatedActivation", "saturated_activations", 0.6},
                                  Meaning{"AttentionCollapse", "attention_collapse", 0.6},
                                  Meaning{"AmpOverflow", "loss_scaling", 0.8},
                                  Meaning{"GradientByDepth", "vanishing_gradients", 0.45},
                                  Meaning{"Divergence", "training_diverged", 0.55},
                                  Meaning{"DegeneratePredictions", "predicts_one_class", 0.5},
                                  Meaning{"RepresentationCollapse", "representation_collapse", 0.5},
                                  Meaning{"ClassImbalance", "class_imbalance", 0.5},
                                  Meaning{"NonFiniteOrigin", "training_diverged", 0.5},
                                  Meaning{"ExplodingTensor", "training_diverged", 0.5}};

constexpr double kSilent = 0.88;  // units that are dead, and nothing comes back through them

// Of a good part of the trained parameters all gradients are exactly zero, from the first look on.
bool are_gradients_silent(const Case& seen) {
  const auto& parameters = seen.structure().parameters;
  std::size_t trained = 0, silent = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].optimizers.empty()) continue;
    std::size_t looks = 0, zero = 0;
    for (const Snapshot& snapshot : seen.snapshots()) {
      const double gradient = snapshot.at("gradient", i);
      looks += std::isfinite(gradient) ? 1 : 0;
      zero += gradient == 0 ? 1 : 0;
    }
    trained += looks >= 3 ? 1 : 0;
    silent += looks >= 3 && zero == looks ? 1 : 0;
  }
  return silent * 4 >= trained && silent > 0 && silent < trained;
}

constexpr double kOfUser = 0.85;  // who names a cause means it

std::string without_full_stop(std::string text) {
  if (!text.empty() && text.back() == '.') text.pop_back();
  return text;
}

// The one that the user gave it, or that of the table, and how sure it is of that; none where it stands for nothing.
std::pair<std::string, double> cause_of(const RuleFinding& finding) {
  if (!finding.cause.empty()) return {finding.cause, kOfUser * finding.confidence};
  const auto meaning = std::find_if(kMeanings.begin(), kMeanings.end(), [&](const Meaning& known) {
    return known.rule == finding.rule && (known.quantity.empty() || known.quantity == finding.quantity);
  });
  return meaning == kMeanings.end() ? std::pair(std::string(), 0.0)
                                    : std::pair(std::string(meaning->cause), meaning->confidence);
}

}  // namespace

std::vector<std::string> alarming_rules(const TrainingHistory& history) {
  std::vector<std::string> names;
  for (const RuleFinding& each : history.rules) {
    const bool is_known = std::find(names.begin(), names.end(), each.rule) != names.end();
    if (!each.is_note && !is_known) names.push_back(each.rule);
  }
  return names;
}

void look_at_rules(const Case& seen, Findings& findings) {
  for (const RuleFinding& each : seen.history.rules) {
    auto [cause, confidence] = cause_of(each);
    if (find_cause(cause) == nullptr) continue;
    // An examination says so exactly.
    const bool is_wiring = each.rule == "ForgottenParameter" || (each.rule == "NoOpUpdate" && each.cause.empty());
    if (is_wiring && seen.structure().is_known) continue;
    // Infinities of a mask are where they belong.
    const bool is_harmless = (each.rule == "ExplodingTensor" || each.rule == "NonFiniteOrigin") &&
                             seen.symptoms.train.count > 0 && seen.symptoms.train.not_finite == 0;
    const bool is_of_nan = each.rule == "DeadRelu" && seen.symptoms.train.not_finite > 0;
    if (is_harmless || is_of_nan) continue;
    if (each.rule == "DeadRelu" && are_gradients_silent(seen)) confidence = kSilent;
    findings.push_back({cause,
                        each.is_note ? confidence / 2 : confidence,
                        without_full_stop(each.message),
                        {each.rule + " found it"},
                        {},
                        each.step,
                        {}});
  }
}

}  // namespace trainwarden::diagnosis
