// TensorVariance: a tensor whose elements spread too much, or too little.
//
// Source: the documented rule of SageMaker Debugger: the variance is above max_threshold or below min_threshold; a
// bound that is not given is not checked; the inspected set is the union of collections and patterns, one of which
// must be given. Ours where the documentation is silent: the variance is the population's; a tensor without one (empty,
// or with a NaN or an infinity) is not judged, as ExplodingTensor reports it. No state.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/tensors/selection_parameters.h"
#include "judge/rules/builtin/tensors/tensors_rules.h"
#include "judge/rules/needs.h"
#include "judge/rules/step_statistics.h"

namespace trainwarden::rules {
namespace tensor_variance_rule {
namespace {

constexpr const char* kAdvice =
    "Look at how the first of these tensors is initialised or normalised, and compare its histogram with that of a "
    "step at which training was well.";

struct Bounds {
  std::optional<double> lowest;
  std::optional<double> highest;
};

class TensorVariance final : public Rule {
 public:
  TensorVariance(TensorSelection selection, const Bounds& bounds) : selection_(std::move(selection)), bounds_(bounds) {}

  Verdict evaluate(const StepWindow& window) override {
    std::size_t judged = 0;
    std::vector<Evidence> outside;
    const JudgingGaps gaps = visit_tensors(selection_, window, [&](const TensorSpot& spot) -> Status {
      TRAINWARDEN_ASSIGN_OR_RETURN(const double variance, variance_of(spot, window));
      ++judged;
      const auto bound = bound_passed(variance);
      if (!bound) return {};
      outside.push_back({spot.tensor, spot.shown_worker, "variance", variance, *bound, window.global_step()});
      return {};
    });
    if (judged == 0) return nothing_to_judge(gaps, "tensor", window);
    if (outside.empty()) return Verdict::ok();
    std::stable_sort(outside.begin(), outside.end(), is_worse);
    std::string text = message(outside, judged, window);
    return fired(std::move(text), kAdvice, std::move(outside));
  }

  std::vector<Collection> needs() const override {
    return needs_of(selection_, "tensor_variance", KeepForm::reduced(), 1);
  }

 private:
  static Result<double> variance_of(const TensorSpot& spot, const StepWindow& window) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const double variance, window.reduction(spot, Reduction::kVariance));
    if (!std::isnan(variance)) return variance;
    return Status(Code::kOutOfRange,
                  fmt::format("\"{}\" has no variance: it is empty, or holds a NaN or an infinity", spot.tensor));
  }

  std::optional<double> bound_passed(double variance) const {
    if (bounds_.highest && variance > *bounds_.highest) return bounds_.highest;
    if (bounds_.lowest && variance < *bounds_.lowest) return bounds_.lowest;
    return std::nullopt;
  }

  // Those above come first, the highest at the head; then those below, the lowest at the head.
  static bool is_worse(const Evidence& a, const Evidence& b) {
    const auto badness = [](const Evidence& e) {
      return e.value > e.threshold ? std::pair(1, e.value) : std::pair(0, -e.value);
    };
    return badness(a) > badness(b);
  }

  static std::string message(const std::vector<Evidence>& outside, std::size_t judged, const StepWindow& window) {
    const Evidence& worst = outside.front();
    return fmt::format("The variance of {} of {} tensors is out of bounds at {}: in \"{}\" it is {:.3g}, {} {:g}.",
                       outside.size(), judged, describe_step(window), worst.tensor, worst.value,
                       worst.value > worst.threshold ? "above" : "below", worst.threshold);
  }

  const TensorSelection selection_;
  const Bounds bounds_;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  TensorSelection selection = read_selection(read);
  const Bounds bounds{read.optional_number("min_threshold", 0), read.optional_number("max_threshold", 0)};
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  TRAINWARDEN_RETURN_IF_ERROR(check_chosen(selection));
  if (!bounds.lowest && !bounds.highest) {
    return Status(Code::kInvalidArgument, "no bound is given: give max_threshold, min_threshold or both");
  }
  if (bounds.lowest && bounds.highest && *bounds.lowest > *bounds.highest) {
    return Status(Code::kInvalidArgument,
                  fmt::format("min_threshold {:g} is above max_threshold {:g}: every variance would be out of bounds",
                              *bounds.lowest, *bounds.highest));
  }
  return std::unique_ptr<Rule>(new TensorVariance(std::move(selection), bounds));
}

}  // namespace
}  // namespace tensor_variance_rule

RuleKind tensor_variance() {
  return {{.name = "TensorVariance",
           .summary = "Fires when the variance of a tensor is above or below a bound that you give.",
           .parameters =
               with_selection({{"max_threshold", "",
                                "the highest variance that is still fine, in the square of the tensor's unit; "
                                "nothing: not checked"},
                               {"min_threshold", "", "the lowest variance that is still fine; nothing: not checked"}}),
           .topic = "tensors",
           .details =
               "Judges, by itself, each chosen tensor of each worker by its variance (of the population, so divided by "
               "n), which statistics hold: no values are read. The evidence is `variance`, those above their bound "
               "first.\n\n"
               "A tensor that is empty or holds a NaN or an infinity has no variance and is not judged. It is not a "
               "default rule, since what is fine differs from tensor to tensor: choose tensors and bounds.",
           .source = "SageMaker Debugger, tensor_variance",
           .by_default = false,
           .in_process = true,
           .consequences = {}},
          tensor_variance_rule::create};
}

}  // namespace trainwarden::rules
