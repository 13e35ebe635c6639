// SoftmaxLossMismatch: what goes into a loss is not what that loss is made for.
//
// Source: the missing or redundant softmax of TheDeepChecker, UMLAUT and DeepFD (spec of the diagnosis research, 36).
// By the name of the loss, which adapters put in front of `_input_`:
//   cross entropy takes scores; numbers that are all in [0, 1] and sum to 1 for each sample have been through a
//   softmax, and get a second one; negative log likelihood takes logarithms of probabilities, which are never above 0:
//   scores and probabilities are not; binary cross entropy with logits takes scores; numbers that stay in [0, 1] and
//   spread over at least half of it have been through a sigmoid, and get a second one.
// And a cross entropy, of whichever kind, is never negative.
//
// All of it is known by statistics: numbers that are ≥ 0 with a mean of 1 / C (C classes) sum to 1 for each sample, or
// come so near to it that it makes no difference over `patience` steps in a row. Half precision rounds sums by at most
// 1/512, so the mean may be off by kSumTolerance. log_softmax before a cross entropy changes nothing, and does not
// fire. State: one streak for each predictions tensor and loss of each worker.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/base/regex.h"
#include "judge/rules/builtin/data/class_labels.h"
#include "judge/rules/builtin/data/data_rules.h"
#include "judge/rules/needs.h"
#include "judge/rules/parameters.h"

namespace trainwarden::rules {
namespace softmax_loss_mismatch_rule {
namespace {

constexpr std::int64_t kMostSteps = 1'000'000;
constexpr double kSumTolerance = 0.0025;    // relative, of a row's sum
constexpr double kLogTolerance = 1e-3;      // how far rounding may lift a logarithm of a probability above 0
constexpr double kLeastSpread = 0.5;        // of sigmoid outputs: scores near 0 lie closer together
constexpr std::int64_t kSigmoidSteps = 30;  // at least: scores may happen to lie in [0, 1] for a while
constexpr std::uint64_t kSigmoidSamples = 200;
constexpr double kNegativeLoss = -1e-3;
constexpr double kSigmoidConfidence = 0.8;

constexpr const char* kBeforeKind = "(?<![A-Za-z])";
constexpr const char* kCrossEntropy = "(CrossEntropyLoss|cross_entropy)_input_";
constexpr const char* kLogLikelihood = "NLLLoss_input_";
constexpr const char* kEither = "nll_loss_input_";  // F.cross_entropy and F.nll_loss have one name
constexpr const char* kBinaryLogits = "(BCEWithLogitsLoss|binary_cross_entropy_with_logits)_input_";
constexpr const char* kNeverNegative =
    "(CrossEntropyLoss|cross_entropy|NLLLoss|nll_loss|BCELoss|BCEWithLogitsLoss|"
    "binary_cross_entropy|binary_cross_entropy_with_logits)_output_";

enum class Fault { kSoftmaxTwice, kNotLogarithms, kSigmoidTwice, kNegative };

struct Kinds {
  Regex cross_entropy;
  Regex log_likelihood;
  Regex either;
  Regex binary_logits;
  Regex never_negative;

  static Result<Kinds> compile() {
    const auto kind = [](const char* names) { return Regex::compile(std::string(kBeforeKind) + names); };
    TRAINWARDEN_ASSIGN_OR_RETURN(auto cross_entropy, kind(kCrossEntropy));
    TRAINWARDEN_ASSIGN_OR_RETURN(auto log_likelihood, kind(kLogLikelihood));
    TRAINWARDEN_ASSIGN_OR_RETURN(auto either, kind(kEither));
    TRAINWARDEN_ASSIGN_OR_RETURN(auto binary_logits, kind(kBinaryLogits));
    TRAINWARDEN_ASSIGN_OR_RETURN(auto never_negative, kind(kNeverNegative));
    return Kinds{std::move(cross_entropy), std::move(log_likelihood), std::move(either), std::move(binary_logits),
                 std::move(never_negative)};
  }
  bool any_input(std::string_view tensor) const {
    return cross_entropy.found_in(tensor) || log_likelihood.found_in(tensor) || either.found_in(tensor) ||
           binary_logits.found_in(tensor);
  }
};

// Steps in a row that look like the fault.
struct Streak {
  std::int64_t steps = 0;
  std::uint64_t samples = 0;
  double lowest = 0;
  double highest = 0;

  void add(const Statistics& numbers) {
    lowest = steps == 0 ? numbers.min : std::min(lowest, numbers.min);
    highest = steps == 0 ? numbers.max : std::max(highest, numbers.max);
    samples += numbers.count;
    ++steps;
  }
};

struct Finding {
  Fault fault = Fault::kSoftmaxTwice;
  Evidence evidence;
};

std::int64_t classes_of(const Shape& shape) {
  if (shape.rank() == 0) return 1;
  return shape.rank() == 1 ? shape[0] : shape[1];
}

class SoftmaxLossMismatch final : public Rule {
 public:
  SoftmaxLossMismatch(Kinds kinds, std::int64_t patience) : kinds_(std::move(kinds)), patience_(patience) {}

  Verdict evaluate(const StepWindow& window) override {
    std::vector<Finding> found;
    std::size_t judged = 0;
    const JudgingGaps gaps = visit_tensors(predictions(), window, [&](const TensorSpot& spot) -> Status {
      if (!kinds_.any_input(spot.tensor)) return Status();
      TRAINWARDEN_ASSIGN_OR_RETURN(const Statistics* numbers, window.statistics(spot));
      TRAINWARDEN_ASSIGN_OR_RETURN(const Shape shape, window.shape(spot));
      ++judged;
      judge_input(spot, *numbers, shape, window, found);
      return Status();
    });
    for (const auto& [spot, loss] : read_reductions(losses(), Reduction::kMean, false, window).tensors) {
      if (!kinds_.never_negative.found_in(spot.tensor)) continue;
      ++judged;
      judge_loss(spot, loss, window, found);
    }
    if (judged == 0) return nothing_to_judge(gaps, "cross entropy or what it was computed from", window);
    if (found.empty()) return Verdict::ok();
    return verdict(std::move(found));
  }

  std::vector<Collection> needs() const override { return {need_statistics(kPredictions), need_statistics("losses")}; }

 private:
  using Key = std::pair<std::string, std::string>;  // tensor, worker

  static TensorSelection predictions() {
    TensorSelection selection;
    selection.collections = {kPredictions};
    return selection;
  }
  static TensorSelection losses() {
    TensorSelection selection;
    selection.collections = {"losses"};
    return selection;
  }

  void judge_input(const TensorSpot& spot, const Statistics& numbers, const Shape& shape, const StepWindow& window,
                   std::vector<Finding>& found) {
    const bool is_either = kinds_.either.found_in(spot.tensor);
    if (kinds_.log_likelihood.found_in(spot.tensor)) {
      judge_logarithms(spot, numbers, window, found);
    } else if (is_either || kinds_.cross_entropy.found_in(spot.tensor)) {
      judge_scores(spot, numbers, shape, window, found);
    } else {
      judge_logits(spot, numbers, window, found);
    }
  }

  // The streak goes on, or ends here.
  const Streak& continue_streak(const TensorSpot& spot, const Statistics& numbers, bool looks_wrong) {
    Streak& streak = streaks_[{spot.tensor, spot.worker}];
    if (looks_wrong) {
      streak.add(numbers);
    } else {
      streak = {};
    }
    return streak;
  }

  static bool all_in_unit_range(const Statistics& numbers) {
    return numbers.count > 0 && numbers.finite_count() == numbers.count && numbers.min >= 0 &&
           numbers.max <= 1 + kLogTolerance;
  }

  void judge_scores(const TensorSpot& spot, const Statistics& numbers, const Shape& shape, const StepWindow& window,
                    std::vector<Finding>& found) {
    const std::int64_t classes = classes_of(shape);
    const double row_sum = numbers.mean() * static_cast<double>(classes);
    const bool looks_wrong = classes > 1 && all_in_unit_range(numbers) && std::abs(row_sum - 1) <= kSumTolerance;
    if (continue_streak(spot, numbers, looks_wrong).steps < patience_) return;
    found.push_back({Fault::kSoftmaxTwice, evidence(spot, "row_sum", row_sum, 1, window)});
  }

  void judge_logarithms(const TensorSpot& spot, const Statistics& numbers, const StepWindow& window,
                        std::vector<Finding>& found) {
    const bool looks_wrong = numbers.max > kLogTolerance;  // false for NaN: there was nothing finite
    if (continue_streak(spot, numbers, looks_wrong).steps < patience_) return;
    found.push_back({Fault::kNotLogarithms, evidence(spot, "max", numbers.max, 0, window)});
  }

  void judge_logits(const TensorSpot& spot, const Statistics& numbers, const StepWindow& window,
                    std::vector<Finding>& found) {
    // A sigmoid never leaves [0, 1]. Scores may lie in it for long, as a discriminator's do, but not from the first on.
    const bool is_outside = numbers.min < 0 || numbers.max > 1 + kLogTolerance;  // false when nothing is finite
    if (is_outside) left_unit_range_.insert({spot.tensor, spot.worker});
    if (left_unit_range_.contains({spot.tensor, spot.worker})) return;
    const Streak& streak = continue_streak(spot, numbers, all_in_unit_range(numbers));
    if (streak.steps < std::max(patience_, kSigmoidSteps) || streak.samples < kSigmoidSamples) return;
    if (!(streak.highest - streak.lowest >= kLeastSpread)) return;
    found.push_back({Fault::kSigmoidTwice, evidence(spot, "min", streak.lowest, 0, window)});
    found.push_back({Fault::kSigmoidTwice, evidence(spot, "max", streak.highest, 1, window)});
  }

  void judge_loss(const TensorSpot& spot, double loss, const StepWindow& window, std::vector<Finding>& found) {
    Streak& streak = streaks_[{spot.tensor, spot.worker}];
    streak.steps = loss < kNegativeLoss ? streak.steps + 1 : 0;  // a NaN is none
    if (streak.steps < patience_) return;
    found.push_back({Fault::kNegative, evidence(spot, "loss", loss, 0, window)});
  }

  static Evidence evidence(const TensorSpot& spot, const char* quantity, double value, double threshold,
                           const StepWindow& window) {
    return {spot.tensor, spot.shown_worker, quantity, value, threshold, window.global_step()};
  }

  // What says most comes first: inputs that cannot be right, then the negative loss that follows from them.
  Verdict verdict(std::vector<Finding> found) const {
    std::stable_sort(found.begin(), found.end(), [](const Finding& a, const Finding& b) { return a.fault < b.fault; });
    std::vector<Evidence> all;
    for (const Finding& finding : found) all.push_back(finding.evidence);
    const Fault fault = found.front().fault;
    Verdict verdict = fired(message(fault, found.front().evidence), advice(fault), std::move(all));
    if (fault == Fault::kSigmoidTwice) verdict.confidence = kSigmoidConfidence;
    return verdict;
  }

  std::string message(Fault fault, const Evidence& worst) const {
    switch (fault) {
      case Fault::kSoftmaxTwice:
        return fmt::format(
            "\"{}\" holds probabilities: for {} steps its rows have summed to 1 (here {:.4g}), but its "
            "loss takes what has not been through a softmax.",
            worst.tensor, patience_, worst.value);
      case Fault::kNotLogarithms:
        return fmt::format(
            "\"{}\" goes up to {:.4g} for {} steps, but NLLLoss takes logarithms of probabilities, "
            "which are never above 0.",
            worst.tensor, worst.value, patience_);
      case Fault::kSigmoidTwice:
        return fmt::format(
            "\"{}\" has never left [0, 1] for at least {} steps (lowest {:.4g}), as if it came from a "
            "sigmoid, but its loss applies one itself.",
            worst.tensor, std::max(patience_, kSigmoidSteps), worst.value);
      case Fault::kNegative:
        return fmt::format(
            "The cross entropy \"{}\" has been negative for {} steps, here {:.4g}, which it cannot be "
            "for labels that are classes or probabilities.",
            worst.tensor, patience_, worst.value);
    }
    return "";
  }

  static const char* advice(Fault fault) {
    switch (fault) {
      case Fault::kSoftmaxTwice:
        return "Take the softmax out of the model, or use log_softmax with NLLLoss, and see that the loss falls "
               "faster.";
      case Fault::kNotLogarithms:
        return "Put log_softmax before NLLLoss, or use CrossEntropyLoss on the scores, and see that the loss is never "
               "negative.";
      case Fault::kSigmoidTwice:
        return "Take the sigmoid out of the model, or use BCELoss on its output, and see that the loss falls faster.";
      case Fault::kNegative:
        return "See that labels lie in [0, 1] or are class numbers, and that the loss gets what it is made for: scores "
               "or logarithms of probabilities.";
    }
    return "";
  }

  const Kinds kinds_;
  const std::int64_t patience_;
  std::map<Key, Streak> streaks_;
  std::set<Key> left_unit_range_;  // inputs of losses with logits that cannot come from a sigmoid
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  const std::int64_t patience = read.integer("patience", 1, kMostSteps);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  TRAINWARDEN_ASSIGN_OR_RETURN(auto kinds, Kinds::compile());
  return std::unique_ptr<Rule>(new SoftmaxLossMismatch(std::move(kinds), patience));
}

constexpr const char* kDetails = R"(Looks at the tensors of the collection `predictions`, what losses are computed from,
and recognises the loss by their names. Fires when for `patience` steps in a row

- the input of a cross entropy has been through a softmax already: all of it lies in [0, 1] and its rows sum to 1
  (evidence `row_sum`);
- the input of `NLLLoss` is above 0, and so is no logarithm of a probability (evidence `max`);
- the input of `BCEWithLogitsLoss` has never left [0, 1], over at least 30 steps and 200 numbers that spread over
  half of that range, as if it came from a sigmoid (evidence `min`, `max`; confidence 0.8, since scores may do that
  by chance);
- a cross entropy is negative (evidence `loss`).

Needs statistics of the collections `predictions` and `losses`. It knows the losses of PyTorch by name, as modules
(`CrossEntropyLoss_input_0`) and as functions (`nll_loss_input_0`, which is `F.cross_entropy` or `F.nll_loss`, and
is asked only whether it sums to 1). It cannot see a softmax or sigmoid too few before losses that take anything, as
MSELoss does. `log_softmax` before a cross entropy is superfluous but harmless, and does not fire.)";

}  // namespace
}  // namespace softmax_loss_mismatch_rule

RuleKind softmax_loss_mismatch() {
  RuleDescription description;
  description.name = "SoftmaxLossMismatch";
  description.summary =
      "Fires when a loss gets probabilities where it takes scores, or scores where it takes logarithms of "
      "probabilities.";
  description.parameters = {{"patience", "5", "steps in a row that must show it"}};
  description.topic = "data";
  description.details = softmax_loss_mismatch_rule::kDetails;
  description.source = "TheDeepChecker (Ben Braiek and Khomh 2022), UMLAUT (Schoop et al. 2021); the tests are ours";
  description.by_default = true;
  description.in_process = true;
  description.consequences = {"LossNotDecreasing"};
  return {std::move(description), softmax_loss_mismatch_rule::create};
}

}  // namespace trainwarden::rules
