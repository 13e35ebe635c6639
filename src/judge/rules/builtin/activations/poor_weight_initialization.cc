// PoorWeightInitialization: weights that begin so that layers differ too much, gradients are too alike, or the loss
// does not move.
//
// Source: the documented rule of SageMaker Debugger, over the first `steps` steps: (a) the largest variance of the
// inputs of ReLUs is more than `threshold` times the smallest; (b) in some gradient the 95th percentile is less than
// distribution_range above the 5th; (c) the loss has not improved for `patience` steps. Ours where the documentation is
// silent: any of the three fires; a smallest variance of 0 makes the ratio infinite; gradients of fewer than 20
// elements have no 5th percentile to speak of and are left out; steps are those of training.
//
// State: the best value of each loss.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "judge/rules/builtin/activations/activations_rules.h"
#include "judge/rules/builtin/activations/distribution.h"
#include "judge/rules/needs.h"
#include "judge/rules/parameters.h"
#include "judge/rules/step_statistics.h"

namespace trainwarden::rules {
namespace poor_weight_initialization_rule {
namespace {

constexpr std::int64_t kMostSteps = 1'000'000'000;
constexpr std::uint64_t kLeastElements = 20;
constexpr const char* kAdvice =
    "Try the initialisation that belongs to the activation (He for ReLU, Xavier for tanh), or a normalisation layer, "
    "in the first layer of the evidence.";

struct Limits {
  double variance_ratio = 0;
  double gradient_range = 0;
  std::int64_t patience = 0;
  std::int64_t steps = 0;
};

class PoorWeightInitialization final : public Rule {
 public:
  PoorWeightInitialization(TensorSelection inputs, const Limits& limits)
      : inputs_(std::move(inputs)), limits_(limits) {}

  Verdict evaluate(const StepWindow& window) override {
    if (window.mode() == Mode::kEval || window.mode() == Mode::kPredict) {
      return Verdict::not_applicable(
          fmt::format("a step of mode {}; those of training are judged", name(window.mode())));
    }
    if (window.mode_step() >= limits_.steps) {
      return Verdict::not_applicable(fmt::format("only the first {} steps are judged", limits_.steps));
    }
    Findings findings;
    judge_variances(window, findings);
    judge_gradients(window, findings);
    judge_losses(window, findings);
    if (!findings.judged) return nothing_to_judge(findings.gaps, "pair of inputs of ReLUs, gradient or loss", window);
    if (findings.evidence.empty()) return Verdict::ok();
    std::string text =
        fmt::format("The weights begin badly at {}: {}.", describe_step(window), fmt::join(findings.sentences, "; "));
    return fired(std::move(text), kAdvice, std::move(findings.evidence));
  }

  std::vector<Collection> needs() const override {
    const KeepForm histogram{.values = false, .statistics = true, .histogram = true};
    std::vector<Collection> needs = needs_of(inputs_, "poor_weight_initialization", KeepForm::reduced(), 1);
    needs.push_back({.name = "gradients", .save = SavePolicy::every(1), .keep = histogram});
    needs.push_back({.name = "losses", .save = SavePolicy::every(1), .keep = KeepForm::whole()});
    for (Collection& need : needs) need.save = SavePolicy::of({.save_interval = 1, .end_step = limits_.steps});
    return needs;
  }

 private:
  using Key = std::pair<std::string, std::string>;  // tensor, worker
  struct Findings {
    bool judged = false;
    std::vector<Evidence> evidence;
    std::vector<std::string> sentences;
    JudgingGaps gaps;
    void note(const JudgingGaps& more) {
      if (gaps.first_unfit.ok()) gaps.first_unfit = more.first_unfit;
      if (gaps.first_damage.ok()) gaps.first_damage = more.first_damage;
    }
  };
  struct BestLoss {
    double value = std::numeric_limits<double>::infinity();
    std::int64_t steps_since = 0;
  };

  void judge_variances(const StepWindow& window, Findings& findings) const {
    StepReductions inputs = read_reductions(inputs_, Reduction::kVariance, false, window);
    findings.note(inputs.gaps);
    std::erase_if(inputs.tensors, [](const TensorReduction& one) { return std::isnan(one.value); });
    if (inputs.tensors.size() < 2) return;
    findings.judged = true;
    std::sort(inputs.tensors.begin(), inputs.tensors.end(),
              [](const auto& a, const auto& b) { return a.value < b.value; });
    const TensorReduction& least = inputs.tensors.front();
    const TensorReduction& most = inputs.tensors.back();
    if (!(most.value > limits_.variance_ratio * least.value)) return;
    const double ratio = least.value > 0 ? most.value / least.value : std::numeric_limits<double>::infinity();
    const TensorReduction& odd = farther_out(inputs.tensors);
    findings.evidence.push_back({odd.spot.tensor, odd.spot.shown_worker, "variance_ratio", ratio,
                                 limits_.variance_ratio, window.global_step()});
    findings.sentences.push_back(
        fmt::format("the variance of what goes into \"{}\" is {:.3g}, into \"{}\" it is {:.3g}, {:.3g} times as high "
                    "(up to {:g} is fine)",
                    least.spot.tensor, least.value, most.spot.tensor, most.value, ratio, limits_.variance_ratio));
  }

  // Of the two ends of the sorted list, the one that is farther from the middle in orders of magnitude; of two layers
  // the higher.
  static const TensorReduction& farther_out(const std::vector<TensorReduction>& sorted) {
    const TensorReduction& least = sorted.front();
    const TensorReduction& most = sorted.back();
    if (least.value == 0) return least;
    const double middle_squared = sorted[(sorted.size() - 1) / 2].value * sorted[sorted.size() / 2].value;
    return most.value * least.value >= middle_squared ? most : least;
  }

  void judge_gradients(const StepWindow& window, Findings& findings) const {
    std::vector<Evidence> narrow;
    findings.note(visit_tensors({{"gradients"}, {}, false}, window, [&](const TensorSpot& spot) -> Status {
      TRAINWARDEN_ASSIGN_OR_RETURN(const double range, quantile_range(spot, window, 0.05, 0.95, kLeastElements));
      findings.judged = true;
      if (!(range < limits_.gradient_range)) return {};
      narrow.push_back(
          {spot.tensor, spot.shown_worker, "gradient_range", range, limits_.gradient_range, window.global_step()});
      return {};
    }));
    if (narrow.empty()) return;
    std::stable_sort(narrow.begin(), narrow.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
    findings.sentences.push_back(fmt::format("nine tenths of \"{}\" lie within {:.3g} (at least {:g} are asked for)",
                                             narrow.front().tensor, narrow.front().value, limits_.gradient_range));
    findings.evidence.insert(findings.evidence.end(), narrow.begin(), narrow.end());
  }

  void judge_losses(const StepWindow& window, Findings& findings) {
    const StepReductions losses = read_reductions({{"losses"}, {}, false}, Reduction::kMean, false, window);
    findings.note(losses.gaps);
    for (const auto& [spot, loss] : losses.tensors) {
      findings.judged = true;
      BestLoss& best = best_[{spot.tensor, spot.worker}];
      // A NaN is no improvement.
      best.steps_since = loss < best.value ? 0 : best.steps_since + 1;
      if (loss < best.value) best.value = loss;
      if (best.steps_since < limits_.patience) continue;
      findings.evidence.push_back({spot.tensor, spot.shown_worker, "steps_without_improvement",
                                   static_cast<double>(best.steps_since), static_cast<double>(limits_.patience),
                                   window.global_step()});
      findings.sentences.push_back(fmt::format("the loss \"{}\" has not been below {:.4g} for {} steps", spot.tensor,
                                               best.value, best.steps_since));
    }
  }

  const TensorSelection inputs_;
  const Limits limits_;
  std::map<Key, BestLoss> best_;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  const TensorSelection inputs{{"relu_inputs"}, read.patterns("activation_inputs_regex"), false};
  const Limits limits{read.number("threshold", 1), read.number("distribution_range", 0),
                      read.integer("patience", 1, kMostSteps), read.integer("steps", 1, kMostSteps)};
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new PoorWeightInitialization(inputs, limits));
}

}  // namespace
}  // namespace poor_weight_initialization_rule

RuleKind poor_weight_initialization() {
  return {
      {.name = "PoorWeightInitialization",
       .summary = "Fires when layers differ too much, gradients are too alike or the loss stands still at the start.",
       .parameters = {{"activation_inputs_regex", ".*relu_input",
                       "patterns of tensors that are judged as inputs of ReLUs, besides the collection relu_inputs"},
                      {"threshold", "10.0", "the highest ratio between the variances of two layers that is fine"},
                      {"distribution_range", "0.001",
                       "the least distance of a gradient's 95th percentile from its 5th, in its own unit"},
                      {"patience", "5", "steps without a new lowest loss at which it fires"},
                      {"steps", "10", "how many steps of training are judged, from the first on"}},
       .topic = "activations",
       .details =
           "Judges the first `steps` steps of training by three signs, each of which fires: the variances of what goes "
           "into ReLUs differ by more than `threshold` times between layers (`variance_ratio`); the 95th percentile of "
           "a gradient is less than `distribution_range` above its 5th (`gradient_range`); a loss has not had a new "
           "lowest value for `patience` steps (`steps_without_improvement`). Percentiles come from the histogram of "
           "statistics, to within an eighth, or from values where they were kept. Gradients of fewer than 20 elements "
           "are left out.\n\n"
           "It is not a default rule, since its documented thresholds fire on most healthy trainings. Of ten small "
           "networks that learned well with PyTorch's initialisation, six had a variance ratio above 10 (17 to 294: "
           "all those with several ReLU layers and no normalisation), three a gradient within 0.001 (biases before a "
           "batch normalisation 3e-08), and in five the loss of mini-batches had no new lowest value for 5 of the "
           "first 10 steps. Choose thresholds by a training of your own that went well.",
       .source = "SageMaker Debugger, poor_weight_initialization",
       .by_default = false,
       .in_process = true,
       .consequences = {"LossNotDecreasing", "VanishingGradient", "GradientByDepth", "DeadRelu",
                        "SaturatedActivation"}},
      poor_weight_initialization_rule::create};
}

}  // namespace trainwarden::rules
