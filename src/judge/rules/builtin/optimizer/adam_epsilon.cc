// AdamEpsilon: gradients so small that Adam's epsilon decides the size of the update.
//
// Source: Wortsman et al. 2023: an update is g / (√v + ε), and where the root mean square of a layer's gradient is no
// larger than ε the layer stands nearly still. Ours: it must hold for `checks` steps in a row, for weights only (a bias
// before a normalisation has no gradient by design), and gradients of exactly zero are NoOpUpdate's.
// State: one count for each gradient.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/optimizer/optimizer_rules.h"
#include "judge/rules/needs.h"
#include "judge/rules/parameters.h"
#include "judge/rules/step_statistics.h"
#include "judge/rules/training_facts.h"

namespace trainwarden::rules {
namespace adam_epsilon_rule {
namespace {

constexpr std::int64_t kMostSteps = 1'000'000;
constexpr const char* kAdvice =
    "Lower Adam's eps to a thousandth of the gradient's root mean square that is named here, and see whether the "
    "layer's weights then move.";

class AdamEpsilon final : public Rule {
 public:
  AdamEpsilon(std::optional<double> epsilon, std::int64_t checks) : epsilon_(epsilon), checks_(checks) {}

  Verdict evaluate(const StepWindow& window) override {
    const Status facts = facts_.update(window);
    if (!facts.ok()) return Verdict::insufficient_data(facts.message());
    const std::optional<double> epsilon = epsilon_ ? epsilon_ : smallest_epsilon();
    if (!epsilon) return Verdict::not_applicable("no optimizer of Adam's kind with an eps is known at this step");
    std::vector<Evidence> found;
    std::size_t judged = 0;
    const JudgingGaps gaps =
        visit_tensors({.collections = {"gradients"}}, window, [&](const TensorSpot& spot) -> Status {
          if (spot.tensor.find("weight") == std::string::npos) return Status();
          TRAINWARDEN_ASSIGN_OR_RETURN(const Statistics* statistics, window.statistics(spot));
          ++judged;
          const double rms = statistics->l2() / std::sqrt(static_cast<double>(statistics->finite_count()));
          std::int64_t& count = counts_[{spot.tensor, spot.worker}];
          count = rms > 0 && rms <= *epsilon ? count + 1 : 0;
          if (count < checks_) return Status();
          found.push_back({spot.tensor, spot.shown_worker, "rms", rms, *epsilon, window.global_step()});
          return Status();
        });
    if (judged == 0) return nothing_to_judge(gaps, "statistics of a weight's gradient", window);
    if (found.empty()) return Verdict::ok();
    std::stable_sort(found.begin(), found.end(),
                     [](const Evidence& a, const Evidence& b) { return a.value < b.value; });
    std::string text = fmt::format(
        "{} of {} weights have had gradients no larger than Adam's eps of {:g} for {} steps at "
        "{}: the root mean square is {:.3g} in \"{}\".",
        found.size(), judged, *epsilon, checks_, describe_step(window), found.front().value, found.front().tensor);
    return fired(std::move(text), kAdvice, std::move(found));
  }

  std::vector<Collection> needs() const override { return {need_statistics("gradients"), need_signals()}; }

 private:
  // Which optimizer has which parameter is not known: the smallest blames no layer wrongly.
  std::optional<double> smallest_epsilon() const {
    std::optional<double> smallest;
    for (const OptimizerFacts& optimizer : facts_.optimizers()) {
      if (optimizer.kind.find("Adam") == std::string::npos) continue;
      for (const double epsilon : optimizer.epsilons) smallest = std::min(smallest.value_or(epsilon), epsilon);
    }
    return smallest;
  }

  const std::optional<double> epsilon_;
  const std::int64_t checks_;
  TrainingFacts facts_;
  std::map<std::pair<std::string, std::string>, std::int64_t> counts_;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  std::optional<double> epsilon;
  if (!parameters.at("epsilon").empty()) epsilon = read.number("epsilon", 0);
  const std::int64_t checks = read.integer("checks", 1, kMostSteps);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new AdamEpsilon(epsilon, checks));
}

}  // namespace
}  // namespace adam_epsilon_rule

RuleKind adam_epsilon() {
  RuleDescription description;
  description.name = "AdamEpsilon";
  description.summary = "Fires when a weight's gradient is no larger than the epsilon of Adam.";
  description.parameters = {{"epsilon", "", "in place of the optimizers' own, of which the smallest is taken"},
                            {"checks", "10", "steps with gradients in a row for which it must be so"}};
  description.topic = "gradients";
  description.details =
      R"(Fires when the root mean square of a weight's gradient is above 0 and at most Adam's epsilon for `checks` steps in a
row. Epsilon comes from the signal `trainwarden/optimizer`, of optimizers whose kind has "Adam" in its name. Evidence:
`rms`, the smallest first.

Not one of the default rules: where epsilon is large on purpose (1e-4 in some reinforcement learning) or a training has
converged, small gradients are ordinary.)";
  description.source = "Wortsman et al. 2023, on instabilities of small-scale transformers";
  description.in_process = true;
  description.consequences = {"LossNotDecreasing", "UnchangedTensor"};
  return {std::move(description), adam_epsilon_rule::create};
}

}  // namespace trainwarden::rules
