// ExplodingTensor: a value that is no longer a finite number.
//
// Source: the documented rule of SageMaker Debugger: NaN and infinities in the inspected tensors, with only_nan only
// NaN; the inspected set is the union of collections and patterns, and every tensor when neither is given. Ours: it
// counts from saved statistics as well as from values and scalars, and reports each tensor with its count; where only
// single reductions were saved, it judges by those that tell (non_finite_search.h).
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "rules/builtin/tensors/non_finite_search.h"
#include "rules/builtin/tensors/tensors_rules.h"
#include "rules/needs.h"
#include "rules/parameters.h"
#include "rules/step_statistics.h"

namespace trainwarden::rules {
namespace {

constexpr const char* kNanCount = "nan_count";
constexpr const char* kInfCount = "inf_count";
constexpr const char* kAdvice =
    "Look at the steps before this one for the first tensor that grew; try a lower learning rate, gradient clipping, "
    "or a wider number type where it overflowed.";

class ExplodingTensor final : public Rule {
 public:
  ExplodingTensor(TensorSelection selection, bool only_nan) : selection_(std::move(selection)), only_nan_(only_nan) {}

  Verdict evaluate(const StepWindow& window) override {
    std::size_t judged = 0;
    std::vector<Evidence> exploded;
    const JudgingGaps gaps = visit_tensors(selection_, window, [&](const TensorSpot& spot) -> Status {
      TRAINWARDEN_ASSIGN_OR_RETURN(const Finding finding, look_at(spot, window));
      ++judged;
      if (!finding) return Status();
      exploded.push_back({spot.tensor, spot.shown_worker, finding->quantity, finding->value, 0, window.global_step()});
      return Status();
    });
    if (judged == 0) return nothing_to_judge(gaps, "tensor", window);
    if (exploded.empty()) return Verdict::ok();
    std::stable_sort(exploded.begin(), exploded.end(), is_worse);
    std::string text = message(exploded, judged, window);
    return fired(std::move(text), kAdvice, std::move(exploded), Severity::kError);
  }

  std::vector<Collection> needs() const override {
    return needs_of(selection_, "exploding_tensor", KeepForm::reduced(), 1);
  }

 private:
  // What tells that the tensor is not finite: none when it is.
  struct Quantity {
    std::string quantity;
    double value = 0;
  };
  using Finding = std::optional<Quantity>;

  Result<Finding> look_at(const TensorSpot& spot, const StepWindow& window) const {
    const auto statistics = window.statistics(spot);
    if (statistics.ok()) return count(**statistics);
    const auto saved = window.saved_reductions(spot);
    if (!saved.ok()) return statistics.status();
    const NonFiniteSearch search = search_non_finite(*saved, only_nan_);
    if (!search.decided) return statistics.status();
    if (!search.found) return Finding();
    return Finding({identifier(*search.found), search.found->value});
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
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  TensorSelection selection;
  selection.collections = read.list("collection_names");
  selection.patterns = read.patterns("tensor_regex");
  selection.all = selection.collections.empty() && selection.patterns.empty();
  const bool only_nan = read.boolean("only_nan");
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new ExplodingTensor(std::move(selection), only_nan));
}

}  // namespace

RuleKind exploding_tensor() {
  return {{"ExplodingTensor",
           "Fires when a tensor holds a NaN or an infinity.",
           {{"collection_names", "", "collections whose tensors are judged, separated by commas"},
            {"tensor_regex", "", "patterns of tensors that are judged too; all tensors when neither is given"},
            {"only_nan", "False", "True: infinities are fine"}}},
          create};
}

}  // namespace trainwarden::rules
