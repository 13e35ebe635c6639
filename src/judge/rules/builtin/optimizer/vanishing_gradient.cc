// VanishingGradient: gradients so small that training no longer moves.
//
// Source: the documented rule of SageMaker Debugger, mean(|g|) < threshold on the collection `gradients`. Ours where
// the documentation is silent: every gradient of every worker is judged by itself; a gradient that holds a NaN has no
// mean and does not fire; min_fraction asks for more than one bad gradient.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/optimizer/optimizer_rules.h"
#include "judge/rules/needs.h"
#include "judge/rules/parameters.h"
#include "judge/rules/step_statistics.h"

namespace trainwarden::rules {
namespace vanishing_gradient_rule {
namespace {

constexpr const char* kAdvice =
    "Look at the evidence for the first layer that is affected; try another initialisation, a normalisation layer, an "
    "activation that does not saturate, or a lower learning rate.";

class VanishingGradient final : public Rule {
 public:
  VanishingGradient(TensorSelection selection, double threshold, double min_fraction)
      : selection_(std::move(selection)), threshold_(threshold), min_fraction_(min_fraction) {}

  Verdict evaluate(const StepWindow& window) override {
    const StepReductions gradients = read_reductions(selection_, Reduction::kMean, true, window);
    if (gradients.tensors.empty()) return nothing_to_judge(gradients.gaps, "gradient", window);
    std::vector<Evidence> vanished;
    for (const auto& [spot, abs_mean] : gradients.tensors) {
      if (!(abs_mean < threshold_)) continue;
      vanished.push_back({spot.tensor, spot.shown_worker, "abs_mean", abs_mean, threshold_, window.global_step()});
    }
    const double fraction = static_cast<double>(vanished.size()) / static_cast<double>(gradients.tensors.size());
    if (vanished.empty() || fraction < min_fraction_) return Verdict::ok();
    std::stable_sort(vanished.begin(), vanished.end(),
                     [](const Evidence& a, const Evidence& b) { return a.value < b.value; });
    std::string text = message(vanished, gradients.tensors.size(), window);
    return fired(std::move(text), kAdvice, std::move(vanished));
  }

  std::vector<Collection> needs() const override {
    return needs_of(selection_, "vanishing_gradient", KeepForm::reduced(), 1);
  }

 private:
  std::string message(const std::vector<Evidence>& vanished, std::size_t judged, const StepWindow& window) const {
    return fmt::format("{} of {} gradients have vanished at {}: the mean of |g| is below {:g}, in \"{}\" it is {:.3g}.",
                       vanished.size(), judged, describe_step(window), threshold_, vanished.front().tensor,
                       vanished.front().value);
  }

  const TensorSelection selection_;
  const double threshold_;
  const double min_fraction_;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  TensorSelection selection;
  selection.collections = read.collections("collection_names");
  selection.patterns = read.patterns("tensor_regex");
  const double threshold = read.number("threshold", 0);
  const double min_fraction = read.number("min_fraction", 0, 1);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new VanishingGradient(std::move(selection), threshold, min_fraction));
}

}  // namespace
}  // namespace vanishing_gradient_rule

RuleKind vanishing_gradient() {
  RuleDescription description;
  description.name = "VanishingGradient";
  description.summary = "Fires when the mean of a gradient's absolute values falls below a threshold.";
  description.parameters = {
      {"threshold", "0.0000001", "the lowest mean of |g| that is still fine, in the gradient's own unit"},
      {"collection_names", "gradients", "collections whose tensors are judged, separated by commas"},
      {"tensor_regex", "", "patterns of tensors that are judged too"},
      {"min_fraction", "0", "part of the gradients that must be below at the same step, from 0 (any one) to 1"}};
  description.topic = "gradients";
  description.details =
      R"(Fires at a step at which mean(|g|) of at least one gradient (`min_fraction`: of that part of them) is below
`threshold`. Each worker's gradients are judged by themselves. A gradient that holds a NaN has no mean and does not fire:
that is NonFiniteOrigin's. Evidence: `abs_mean` of each vanished gradient, the smallest first.

Not one of the default rules: by its documented definition one gradient at one step is enough, and healthy networks have
such gradients: a bias before a batch normalisation, a layer that is not used, everything near the end of a training.
GradientByDepth and NoOpUpdate are the ones that look at more than that.)";
  description.source = "the documented rule of SageMaker Debugger";
  description.in_process = true;
  description.consequences = {"LossNotDecreasing", "UnchangedTensor"};
  return {std::move(description), vanishing_gradient_rule::create};
}

}  // namespace trainwarden::rules
