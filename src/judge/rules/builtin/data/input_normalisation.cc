// InputNormalisation: inputs on a raw scale, or on another scale in evaluation than in training.
//
// Source: the missing preprocessing of DeepFD's collection of faults, and the check of inputs of TheDeepChecker (spec
// of the diagnosis research, 28). Ours: what is judged is the running mean and standard deviation of each tensor that
// goes into the outermost model, in training and in evaluation by themselves, from exact sums. Whole numbers in tensors
// of at most two dimensions are taken for tokens or indices, and not judged. A raw scale is a note: many networks cope
// with it. State: three sums for each tensor, worker and kind of step.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/data/data_rules.h"
#include "judge/rules/needs.h"
#include "judge/rules/parameters.h"
#include "judge/rules/step_statistics.h"

namespace trainwarden::rules {
namespace input_normalisation_rule {
namespace {

constexpr std::int64_t kMostSteps = 1'000'000;
constexpr int kMostDimensionsOfTokens = 2;
constexpr const char* kScaleAdvice =
    "Subtract the mean of the training set and divide by its standard deviation, and see whether the loss falls "
    "faster.";
constexpr const char* kShiftAdvice =
    "Compare the preprocessing of training and evaluation line by line: both need the same mean, standard deviation "
    "and order of channels.";

struct Running {
  std::int64_t steps = 0;
  double sum = 0;
  double square_sum = 0;
  double count = 0;

  void add(const Statistics& numbers) {
    ++steps;
    sum += numbers.sum.to_double();
    square_sum += numbers.square_sum.to_double();
    count += static_cast<double>(numbers.finite_count());
  }
  double mean() const { return sum / count; }
  double deviation() const { return std::sqrt(std::max(0.0, square_sum / count - mean() * mean())); }
};

struct Input {
  Running train;
  Running eval;
};

struct Limits {
  double mean = 0;
  double deviation = 0;
  double shift = 0;
  double ratio = 0;
  std::int64_t steps = 0;
};

// Of an exact sum: no limb stands behind the point.
bool is_whole(const ExactSum& sum) {
  return sum.limbs.empty() || sum.lowest_limb >= 0;
}

class InputNormalisation final : public Rule {
 public:
  InputNormalisation(TensorSelection selection, const Limits& limits)
      : selection_(std::move(selection)), limits_(limits) {}

  Verdict evaluate(const StepWindow& window) override {
    if (window.mode() == Mode::kPredict) return Verdict::not_applicable("a predict step");
    std::vector<Evidence> shifted;
    std::vector<Evidence> raw;
    std::size_t seen = 0;
    std::size_t judged = 0;
    const JudgingGaps gaps = visit_tensors(selection_, window, [&](const TensorSpot& spot) -> Status {
      TRAINWARDEN_ASSIGN_OR_RETURN(const Statistics* numbers, window.statistics(spot));
      TRAINWARDEN_RETURN_IF_ERROR(check(spot, *numbers, window));
      Input& input = inputs_[{spot.tensor, spot.worker}];
      (window.mode() == Mode::kEval ? input.eval : input.train).add(*numbers);
      ++seen;
      if (input.train.steps < limits_.steps) return Status();
      ++judged;
      judge_scale(spot, input.train, window, raw);
      if (input.eval.steps >= limits_.steps) judge_shift(spot, input, window, shifted);
      return Status();
    });
    if (seen == 0) return nothing_to_judge(gaps, "input of numbers", window);
    if (judged == 0) return Verdict::insufficient_data(fmt::format("fewer than {} training steps", limits_.steps));
    if (!shifted.empty()) return verdict(std::move(shifted), kShiftAdvice, Severity::kWarning, window);
    if (!raw.empty()) return verdict(std::move(raw), kScaleAdvice, Severity::kInfo, window);
    return Verdict::ok();
  }

  std::vector<Collection> needs() const override {
    return needs_of(selection_, "input_normalisation", KeepForm::reduced(), 1);
  }

 private:
  using Key = std::pair<std::string, std::string>;  // tensor, worker

  static Status check(const TensorSpot& spot, const Statistics& numbers, const StepWindow& window) {
    if (numbers.finite_count() == 0) {
      return Status(Code::kInvalidArgument, fmt::format("\"{}\" has no finite number", spot.tensor));
    }
    TRAINWARDEN_ASSIGN_OR_RETURN(const Shape shape, window.shape(spot));
    if (shape.rank() <= kMostDimensionsOfTokens && is_whole(numbers.sum) && is_whole(numbers.square_sum)) {
      return Status(Code::kInvalidArgument,
                    fmt::format("\"{}\" holds whole numbers, which may be tokens or indices", spot.tensor));
    }
    return Status();
  }

  void judge_scale(const TensorSpot& spot, const Running& train, const StepWindow& window,
                   std::vector<Evidence>& raw) const {
    const auto add = [&](const char* quantity, double value, double limit) {
      if (!(std::abs(value) > limit)) return;
      raw.push_back({spot.tensor, spot.shown_worker, quantity, value, limit, window.global_step()});
    };
    add("deviation", train.deviation(), limits_.deviation);
    add("mean", train.mean(), limits_.mean);
  }

  void judge_shift(const TensorSpot& spot, const Input& input, const StepWindow& window,
                   std::vector<Evidence>& shifted) const {
    const double deviation = input.train.deviation();
    if (!(deviation > 0)) return;  // a constant has no scale
    const double shift = std::abs(input.eval.mean() - input.train.mean()) / deviation;
    const double ratio = input.eval.deviation() / deviation;
    const auto add = [&](const char* quantity, double value, double limit) {
      shifted.push_back({spot.tensor, spot.shown_worker, quantity, value, limit, window.global_step()});
    };
    if (shift > limits_.shift) add("shift_of_mean_in_eval", shift, limits_.shift);
    if (ratio > limits_.ratio) add("ratio_of_deviation_in_eval", ratio, limits_.ratio);
    if (ratio < 1 / limits_.ratio) add("ratio_of_deviation_in_eval", ratio, 1 / limits_.ratio);
  }

  static Verdict verdict(std::vector<Evidence> evidence, const char* advice, Severity severity,
                         const StepWindow& window) {
    const Evidence& worst = evidence.front();
    std::string text =
        severity == Severity::kInfo
            ? fmt::format("The input \"{}\" is on a raw scale: by {} its {} is {:.3g}, more than {:g}.", worst.tensor,
                          describe_step(window), worst.quantity, worst.value, worst.threshold)
            : fmt::format(
                  "The input \"{}\" is another in evaluation than in training: by {} the {} is {:.3g} (limit "
                  "{:.3g}).",
                  worst.tensor, describe_step(window), worst.quantity, worst.value, worst.threshold);
    return fired(std::move(text), advice, std::move(evidence), severity);
  }

  const TensorSelection selection_;
  const Limits limits_;
  std::map<Key, Input> inputs_;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  TensorSelection selection;
  selection.collections = read.collections("collection_names");
  Limits limits;
  limits.mean = read.number("most_mean", 0);
  limits.deviation = read.number("most_deviation", 0);
  limits.shift = read.number("most_shift", 0);
  limits.ratio = read.number("most_ratio", 1);
  limits.steps = read.integer("steps", 1, kMostSteps);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new InputNormalisation(std::move(selection), limits));
}

constexpr const char* kDetails = R"(Keeps the mean and standard deviation over all steps of what goes into the outermost
model, of training and evaluation by themselves. After `steps` steps of a kind it fires

- with a warning, when the mean in evaluation is more than `most_shift` standard deviations of the training away from
  that in training, or the standard deviations differ by more than the factor `most_ratio` (evidence
  `shift_of_mean_in_eval`, `ratio_of_deviation_in_eval`);
- with a note, when in training the mean is further than `most_mean` from 0 or the standard deviation above
  `most_deviation`, as with pixels from 0 to 255 (evidence `mean`, `deviation`).

Needs statistics of `batch_inputs`. Whole numbers in tensors of one or two dimensions are taken for tokens and left
out. It sees tensors as a whole: a single feature on another scale, or a constant one, goes unseen. Steps without a
mode count as training. Not among the default rules: generators and autoencoders may rightly be evaluated on other
inputs.)";

}  // namespace
}  // namespace input_normalisation_rule

RuleKind input_normalisation() {
  RuleDescription description;
  description.name = "InputNormalisation";
  description.summary = "Fires when inputs are on another scale in evaluation than in training, and notes a raw scale.";
  description.parameters = {
      {"collection_names", "batch_inputs", "collections whose tensors are judged, separated by commas"},
      {"most_mean", "10", "distance of the mean from 0 that is put up with, in the inputs' own unit"},
      {"most_deviation", "10", "standard deviation that is put up with, in the inputs' own unit"},
      {"most_shift", "1", "distance of the means of training and evaluation, in standard deviations of training"},
      {"most_ratio", "3", "factor between the standard deviations of training and evaluation, either way"},
      {"steps", "5", "steps of a kind that are seen before they are judged"}};
  description.topic = "data";
  description.details = input_normalisation_rule::kDetails;
  description.source = "DeepFD (Cao et al. 2022), TheDeepChecker (Ben Braiek and Khomh 2022); the limits are ours";
  description.in_process = true;
  return {std::move(description), input_normalisation_rule::create};
}

}  // namespace trainwarden::rules
