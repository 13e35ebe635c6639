// AttentionCollapse: attention that looks at one place only.
//
// Source: low entropy of attention accompanies oscillation and divergence of transformers (Zhai et al. 2023); the
// threshold is from the project's notes, what a row may see (row_measures.h) and the patience are ours. A layer has
// collapsed when the mean over its rows of entropy / ln(keys that the row may see) is below a threshold for `patience`
// captured steps in a row.
//
// State: a counter for each layer.
#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/activations/activations_rules.h"
#include "judge/rules/builtin/activations/row_measures.h"
#include "judge/rules/builtin/tensors/selection_parameters.h"
#include "judge/rules/needs.h"
#include "judge/rules/parameters.h"
#include "judge/rules/step_statistics.h"

namespace trainwarden::rules {
namespace attention_collapse_rule {
namespace {

constexpr std::int64_t kMostSteps = 1'000'000;
constexpr std::int64_t kLeastRows = 32;
constexpr double kConfidence = 0.7;  // some tasks are solved by attention to one place
constexpr const char* kAdvice =
    "See whether the loss swings or stands still since then; try a lower learning rate, a longer warm-up, or "
    "normalised queries and keys in the first of these layers.";

class AttentionCollapse final : public Rule {
 public:
  AttentionCollapse(TensorSelection selection, double threshold, std::int64_t patience)
      : selection_(std::move(selection)), threshold_(threshold), patience_(patience) {}

  Verdict evaluate(const StepWindow& window) override {
    std::size_t judged = 0;
    std::vector<Evidence> collapsed;
    const JudgingGaps gaps = visit_tensors(selection_, window, [&](const TensorSpot& spot) -> Status {
      TRAINWARDEN_ASSIGN_OR_RETURN(const SharedTensorValue value, window.value(spot));
      TRAINWARDEN_ASSIGN_OR_RETURN(const RowMeasure entropy, entropy_share(value.view));
      if (entropy.rows < kLeastRows) {
        return Status(Code::kOutOfRange, fmt::format("\"{}\" has {} rows that can be measured; at least {} are needed",
                                                     spot.tensor, entropy.rows, kLeastRows));
      }
      ++judged;
      std::int64_t& steps = steps_low_[{spot.tensor, spot.worker}];
      steps = entropy.value < threshold_ ? steps + 1 : 0;
      if (steps < patience_) return {};
      collapsed.push_back(
          {spot.tensor, spot.shown_worker, "entropy_share", entropy.value, threshold_, window.global_step()});
      return {};
    });
    if (judged == 0) return nothing_to_judge(gaps, "attention", window);
    if (collapsed.empty()) return Verdict::ok();
    std::stable_sort(collapsed.begin(), collapsed.end(),
                     [](const auto& a, const auto& b) { return a.value < b.value; });
    Verdict verdict = fired(message(collapsed, judged, window), kAdvice, collapsed);
    verdict.confidence = kConfidence;
    return verdict;
  }

  std::vector<Collection> needs() const override {
    return needs_of(selection_, "attention_collapse", KeepForm::whole(), kValueInterval);
  }

 private:
  std::string message(const std::vector<Evidence>& collapsed, std::size_t judged, const StepWindow& window) const {
    return fmt::format(
        "The attention of {} of {} layers has looked at nearly one place only for {} captured steps, up to {}: the "
        "entropy of \"{}\" is {:.3g} of what it can be, {:g} is fine.",
        collapsed.size(), judged, patience_, describe_step(window), collapsed.front().tensor, collapsed.front().value,
        threshold_);
  }

  const TensorSelection selection_;
  const double threshold_;
  const std::int64_t patience_;
  std::map<std::pair<std::string, std::string>, std::int64_t> steps_low_;  // by tensor and worker
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  TensorSelection selection = read_selection(read);
  const double threshold = read.number("threshold", 0, 1);
  const std::int64_t patience = read.integer("patience", 1, kMostSteps);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  TRAINWARDEN_RETURN_IF_ERROR(check_chosen(selection, "attention"));
  return std::unique_ptr<Rule>(new AttentionCollapse(std::move(selection), threshold, patience));
}

}  // namespace
}  // namespace attention_collapse_rule

RuleKind attention_collapse() {
  return {
      {.name = "AttentionCollapse",
       .summary = "Fires when the attention of a layer looks at nearly one place only.",
       .parameters = {{"collection_names", "attention", "collections whose tensors are judged, separated by commas"},
                      {"tensor_regex", "", "patterns of tensors that are judged too"},
                      {"threshold", "0.1",
                       "the least mean entropy of a row that is fine, as a part of the highest "
                       "possible, ln(keys)"},
                      {"patience", "2", "captured steps in a row for which it must be lower"}},
       .topic = "activations",
       .details =
           "Judges tensors of shape [..., queries, keys] whose rows are probabilities (after softmax; dropout does no "
           "harm). The evidence is `entropy_share`: the mean over all heads and rows of the row's entropy divided by "
           "the logarithm of the number of keys that the row may see, so 1 when it attends to all alike and 0 when "
           "to one. Keys that a mask hides are not counted. It needs values, which it asks for every 100 steps.\n\n"
           "Attention that is computed inside a fused operator is never there as a tensor, so it cannot be judged. It "
           "is not a default rule: heads that look at one place are the solution of some tasks (copying, shifting), "
           "and small networks that solve them reach an entropy near 0 and are healthy. Its confidence is 0.7.",
       .source = "Zhai et al. 2023, Stabilizing Transformer Training by Preventing Attention Entropy Collapse",
       .by_default = false,
       .in_process = false,
       .consequences = {"LossNotDecreasing", "LossSpike", "Divergence"}},
      attention_collapse_rule::create};
}

}  // namespace trainwarden::rules
