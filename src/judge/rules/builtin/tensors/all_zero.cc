// AllZero: a tensor of zeros.
//
// Source: the documented rule of SageMaker Debugger: the share of zeros reaches a threshold, in percent; the inspected
// set is the union of collections and patterns, one of which must be given. Ours: "reaches" is >=, since 100 must be
// able to fire; a tensor without elements is not judged; -0 is zero, NaN is not. Zeros are counted by statistics;
// single reductions say when they can only be 0 if every element is. No state.
#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/tensors/selection_parameters.h"
#include "judge/rules/builtin/tensors/tensors_rules.h"
#include "judge/rules/needs.h"
#include "judge/rules/step_statistics.h"

namespace trainwarden::rules {
namespace all_zero_rule {
namespace {

constexpr double kAll = 100;
constexpr const char* kAdvice =
    "Look at what makes the first of these tensors: a layer that is not reached, weights that were set to zero, or "
    "gradients that are cut off on the way (detach, no_grad, a mask).";

// 0 when, and only when, every element is.
bool is_witness_of_zeros(const SavedReduction& saved) {
  switch (saved.reduction) {
    case Reduction::kL1:
    case Reduction::kL2: return true;
    case Reduction::kMax:
    case Reduction::kMean:
    case Reduction::kSum: return saved.abs;
    default: return false;
  }
}

class AllZero final : public Rule {
 public:
  AllZero(TensorSelection selection, double threshold) : selection_(std::move(selection)), threshold_(threshold) {}

  Verdict evaluate(const StepWindow& window) override {
    std::size_t judged = 0;
    std::vector<Evidence> zeros;
    const JudgingGaps gaps = visit_tensors(selection_, window, [&](const TensorSpot& spot) -> Status {
      TRAINWARDEN_ASSIGN_OR_RETURN(const auto percent, percent_if_too_many(spot, window));
      ++judged;
      if (!percent) return {};
      zeros.push_back({spot.tensor, spot.shown_worker, "zero_percent", *percent, threshold_, window.global_step()});
      return {};
    });
    if (judged == 0) return nothing_to_judge(gaps, "tensor", window);
    if (zeros.empty()) return Verdict::ok();
    std::stable_sort(zeros.begin(), zeros.end(), [](const auto& a, const auto& b) { return a.value > b.value; });
    std::string text =
        fmt::format("{} of {} tensors are zero to {:g} % or more at {}: \"{}\" to {:.4g} %.", zeros.size(), judged,
                    threshold_, describe_step(window), zeros.front().tensor, zeros.front().value);
    return fired(std::move(text), kAdvice, std::move(zeros));
  }

  std::vector<Collection> needs() const override { return needs_of(selection_, "all_zero", KeepForm::reduced(), 1); }

 private:
  using Finding = std::optional<double>;

  Result<Finding> percent_if_too_many(const TensorSpot& spot, const StepWindow& window) const {
    const auto statistics = window.statistics(spot);
    if (!statistics.ok()) return judge_by_reductions(spot, statistics.status(), window);
    const Statistics& kept = **statistics;
    if (kept.count == 0) return Status(Code::kOutOfRange, fmt::format("\"{}\" has no elements", spot.tensor));
    const double percent = 100 * static_cast<double>(kept.zero_count) / static_cast<double>(kept.count);
    return percent >= threshold_ ? Finding(percent) : Finding();
  }

  Result<Finding> judge_by_reductions(const TensorSpot& spot, const Status& unfit, const StepWindow& window) const {
    const auto saved = window.saved_reductions(spot);
    if (!saved.ok()) return unfit;
    const auto witness = std::find_if(saved->begin(), saved->end(), is_witness_of_zeros);
    if (witness == saved->end()) return unfit;
    if (witness->value == 0) return Finding(kAll);
    // Some element is not zero; how many are is not known.
    if (threshold_ < kAll) return unfit;
    return Finding();
  }

  const TensorSelection selection_;
  const double threshold_;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  TensorSelection selection = read_selection(read);
  const double threshold = read.number("threshold", 0, kAll);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  TRAINWARDEN_RETURN_IF_ERROR(check_chosen(selection));
  return std::unique_ptr<Rule>(new AllZero(std::move(selection), threshold));
}

}  // namespace
}  // namespace all_zero_rule

RuleKind all_zero() {
  return {{.name = "AllZero",
           .summary = "Fires when all elements of a tensor, or more of them than you allow, are zero.",
           .parameters = with_selection({{"threshold", "100", "the share of zeros, in percent, at which it fires"}}),
           .topic = "tensors",
           .details =
               "Judges, by itself, each chosen tensor of each worker by its count of zeros, which statistics hold: no "
               "values are read. Where only single reductions were kept, l1, l2 or a max, mean or sum of absolute "
               "values shows whether all elements are zero. The evidence is `zero_percent`, the highest first.\n\n"
               "A tensor without elements is not judged. It is not a default rule, since many tensors are zero by "
               "design (biases before the first step, masks, padding): choose the tensors.",
           .source = "SageMaker Debugger, all_zero",
           .by_default = false,
           .in_process = true,
           .consequences = {}},
          all_zero_rule::create};
}

}  // namespace trainwarden::rules
