// ExplodingTensor: a value that is no longer a finite number.
//
// Source: the documented rule of SageMaker Debugger: NaN and infinities in the inspected tensors, with only_nan only
// NaN; the inspected set is the union of collections and patterns, and every tensor when neither is given. Ours: it
// counts from saved statistics as well as from values and scalars, and reports each tensor with its count; where only
// single reductions were saved, it judges by those that say it (non_finite_search.h). Also ours: allow_masks, since
// attention masks and masked scores hold -infinity in every healthy transformer. No state.
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/tensors/non_finite_search.h"
#include "judge/rules/builtin/tensors/selection_parameters.h"
#include "judge/rules/builtin/tensors/tensors_rules.h"
#include "judge/rules/needs.h"
#include "judge/rules/signals.h"
#include "judge/rules/step_statistics.h"

namespace trainwarden::rules {
namespace exploding_tensor_rule {
namespace {

constexpr const char* kNanCount = "nan_count";
constexpr const char* kInfCount = "inf_count";
constexpr const char* kAdvice =
    "Look at the steps before this one for the first tensor that grew; try a lower learning rate, gradient clipping, "
    "or a wider number type where it overflowed.";

// Where -infinity is never meant. Buffers are not among them: models register their masks as such.
const TensorSelection& never_masked() {
  static const TensorSelection kSelection{
      .collections = {"weights", "biases", "gradients", "losses", "scalars", "optimizer_state"},
      .patterns = {},
      .all = false};
  return kSelection;
}

// What may be infinite or no number in a healthy training: the limit to which gradients are clipped, by which programs
// ask for their norm alone, and what the program logs, such as the norm of gradients that overflow while a gradient
// scaler looks for its scale, or a score of no samples; and the columns of boosted trees, whose leaves split nothing.
std::set<std::string> passed_over_at(const StepWindow& window) {
  std::set<std::string> names{std::string(signals::kClipLimit)};
  for (const char* collection : {"logged", "trees"}) {
    const auto members = window.select({.collections = {collection}, .patterns = {}, .all = false});
    if (!members.ok()) continue;
    for (const TensorSpot& spot : *members) names.insert(spot.tensor);
  }
  return names;
}

class ExplodingTensor final : public Rule {
 public:
  ExplodingTensor(TensorSelection selection, bool only_nan, bool allow_masks)
      : selection_(std::move(selection)), only_nan_(only_nan), allow_masks_(allow_masks) {}

  Verdict evaluate(const StepWindow& window) override {
    const std::set<std::string> passed_over = judges_all() ? passed_over_at(window) : std::set<std::string>();
    std::size_t judged = 0;
    std::vector<Evidence> exploded;
    const JudgingGaps gaps = visit_tensors(selection_, window, [&](const TensorSpot& spot) -> Status {
      if (passed_over.contains(spot.tensor)) return Status();
      TRAINWARDEN_ASSIGN_OR_RETURN(const Finding finding, look_at(spot, window));
      ++judged;
      if (!finding) return Status();
      exploded.push_back({spot.tensor, spot.shown_worker, finding->quantity, finding->value, 0, window.global_step()});
      return Status();
    });
    if (judged == 0) return nothing_to_judge(gaps, "tensor", window);
    is_first_ = false;
    if (exploded.empty()) return Verdict::ok();
    std::stable_sort(exploded.begin(), exploded.end(), is_worse);
    std::string text = message(exploded, judged, window);
    return fired(std::move(text), kAdvice, std::move(exploded), Severity::kError);
  }

  std::vector<Collection> needs() const override {
    return needs_of(selection_, "exploding_tensor", KeepForm::reduced(), 1);
  }

 private:
  bool judges_all() const { return selection_.all; }

  // What shows that the tensor is not finite: none when it is.
  struct Quantity {
    std::string quantity;
    double value = 0;
  };
  using Finding = std::optional<Quantity>;

  Result<Finding> look_at(const TensorSpot& spot, const StepWindow& window) {
    const auto statistics = window.statistics(spot);
    if (statistics.ok()) {
      if (allow_masks_ && looks_masked(**statistics)) {
        if (is_first_) masks_.insert(spot.tensor);  // a buffer that is called "bias" is no less a mask
        if (masks_.contains(spot.tensor) || may_be_masked(spot, window)) return Finding();
      }
      return count(**statistics);
    }
    const auto saved = window.saved_reductions(spot);
    if (!saved.ok()) return statistics.status();
    const NonFiniteSearch search = search_non_finite(*saved, only_nan_);
    if (!search.decided) return statistics.status();
    if (!search.found) return Finding();
    return Finding({identifier(*search.found), search.found->value});
  }

  // -infinity beside finite values, and nothing else.
  static bool looks_masked(const Statistics& statistics) {
    return statistics.nan_count == 0 && statistics.positive_inf_count == 0 && statistics.negative_inf_count > 0 &&
           statistics.finite_count() > 0;
  }

  static bool may_be_masked(const TensorSpot& spot, const StepWindow& window) {
    const auto strict = window.select(never_masked());
    return strict.ok() && std::none_of(strict->begin(), strict->end(),
                                       [&](const TensorSpot& one) { return one.tensor == spot.tensor; });
  }

  // NaN weighs more than infinities.
  Finding count(const Statistics& statistics) const {
    if (statistics.nan_count > 0) return Finding({kNanCount, static_cast<double>(statistics.nan_count)});
    if (only_nan_ || statistics.inf_count() == 0) return Finding();
    return Finding({kInfCount, static_cast<double>(statistics.inf_count())});
  }

  static bool is_worse(const Evidence& a, const Evidence& b) {
    const auto badness = [](const Evidence& e) {
      if (e.quantity == kNanCount) return std::pair(3, e.value);
      if (e.quantity == kInfCount) return std::pair(1, e.value);
      return std::isnan(e.value) ? std::pair(2, 0.0) : std::pair(0, 0.0);
    };
    return badness(a) > badness(b);
  }

  static std::string message(const std::vector<Evidence>& exploded, std::size_t judged, const StepWindow& window) {
    return fmt::format("{} of {} tensors hold values that are not finite at {}: \"{}\" has {}.", exploded.size(),
                       judged, describe_step(window), exploded.front().tensor, what_it_has(exploded.front()));
  }

  static std::string what_it_has(const Evidence& evidence) {
    if (evidence.quantity == kNanCount) return fmt::format("{} NaN", evidence.value);
    if (evidence.quantity == kInfCount) return fmt::format("{} infinities", evidence.value);
    return fmt::format("{} {}", evidence.quantity, evidence.value);
  }

  const TensorSelection selection_;
  const bool only_nan_;
  const bool allow_masks_;
  bool is_first_ = true;         // the step that is judged is the first one
  std::set<std::string> masks_;  // what looked like a mask then
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  TensorSelection selection = read_selection(read);
  selection.all = selection.collections.empty() && selection.patterns.empty();
  const bool only_nan = read.boolean("only_nan");
  const bool allow_masks = read.boolean("allow_masks");
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new ExplodingTensor(std::move(selection), only_nan, allow_masks));
}

}  // namespace
}  // namespace exploding_tensor_rule

RuleKind exploding_tensor() {
  return {
      {.name = "ExplodingTensor",
       .summary = "Fires when a tensor holds a NaN or an infinity.",
       .parameters =
           with_selection({{"only_nan", "False", "True: infinities are fine"},
                           {"allow_masks", "True",
                            "True: -infinity is fine in activations, buffers and other tensors that are no weight, "
                            "gradient, loss or state, beside finite values and without other infinities"}},
                          "all tensors when neither is given"),
       .topic = "tensors",
       .details =
           "Judges, by itself, each chosen tensor of each worker by its counts of NaN and infinities, which statistics "
           "hold: no values are read. Where only single reductions were kept, it judges by those that show it. The "
           "evidence is `nan_count`, `inf_count` or the reduction that is not finite, NaN first.\n\n"
           "It sees what was captured, and so not in which operation the first NaN arose: the first tensor of the "
           "first step that it names is the place to begin. Masks of attention and masked scores hold -infinity on "
           "purpose and are let pass (allow_masks); an activation that became -infinity by a fault shows in what "
           "follows it.\n\n"
           "Where no tensors are chosen it passes over numbers that the program logs (the collection `logged`), which "
           "may be infinite in a healthy training, such as the norm of gradients while a gradient scaler looks for its "
           "scale, and the columns of boosted trees (`trees`), whose leaves have no split.",
       .source = "SageMaker Debugger, exploding_tensor",
       .by_default = true,
       .in_process = true,
       .consequences = {"LossNotDecreasing", "LossSpike", "Divergence", "LossDrift", "GradientSpike"}},
      exploding_tensor_rule::create};
}

}  // namespace trainwarden::rules
