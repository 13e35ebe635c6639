// LossNotDecreasing: a loss that does not fall from one check to the next.
//
// Source: the documented rule of SageMaker Debugger. Every num_steps a loss is compared with its value at least
// num_steps before (LossSeries); it fires when it fell by less than diff_percent of the earlier loss, or rose by more
// than increase_threshold_percent; a rise within that is put up with. Without `mode` the losses of eval steps are
// judged once there are any, else those of train steps, else of steps without a mode, as documented.
//
// The tests of 2019 took diff_percent for the increase that is allowed: with diff_percent 20 a loss that stayed the
// same did not fire. Today's documentation calls it the decrease that is asked for, and increase_threshold_percent the
// increase that is allowed; we follow that. With diff_percent 0 both agree: a loss that stayed the same fires.
//
// Ours: a NaN loss fires, since it did not decrease; a loss of several elements is judged by its mean; each loss of
// each worker is judged by itself. State: the points of each loss since its last comparison, at most num_steps + 1.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/losses/loss_series.h"
#include "judge/rules/builtin/losses/losses_rules.h"
#include "judge/rules/needs.h"
#include "judge/rules/parameters.h"
#include "judge/rules/step_place.h"
#include "judge/rules/step_statistics.h"

namespace trainwarden::rules {
namespace loss_not_decreasing_rule {
namespace {

constexpr std::int64_t kMostSteps = 1'000'000'000;
constexpr const char* kLossesCollection = "losses";
constexpr const char* kAdvice =
    "Look at the loss over the last steps; try a lower learning rate, and see that the data and their labels still fit "
    "together. When the loss is noisy from step to step, raise num_steps.";

// Which mode is judged when several are there and none was asked for: the higher.
int preference(Mode mode) {
  switch (mode) {
    case Mode::kEval: return 3;
    case Mode::kTrain: return 2;
    case Mode::kGlobal: return 1;
    case Mode::kPredict: return 0;
  }
  return 0;
}

class LossNotDecreasing final : public Rule {
 public:
  LossNotDecreasing(TensorSelection selection, std::int64_t num_steps, const LossLimits& limits,
                    std::optional<Mode> mode)
      : selection_(std::move(selection)), num_steps_(num_steps), limits_(limits), mode_(mode) {}

  Verdict evaluate(const StepWindow& window) override {
    const Mode step_mode = window.mode();
    if (mode_ && *mode_ != Mode::kGlobal && step_mode != *mode_) return not_judged_mode(step_mode, *mode_);
    const StepReductions losses = read_reductions(selection_, Reduction::kMean, false, window);
    if (losses.tensors.empty()) return nothing_to_judge(losses.gaps, "loss", window);
    if (!mode_ && !prefer(step_mode)) return not_judged_mode(step_mode, preferred_.value_or(Mode::kTrain));

    std::vector<Evidence> stuck;
    std::size_t compared = 0;
    for (const TensorReduction& loss : losses.tensors) {
      const auto comparison = add_point(loss, window);
      if (!comparison) continue;
      ++compared;
      if (did_not_decrease(*comparison, limits_)) stuck.push_back(evidence(loss.spot, *comparison, window));
    }
    if (compared == 0) return Verdict::insufficient_data(next_comparison(losses, window));
    if (stuck.empty()) return Verdict::ok();
    std::stable_sort(stuck.begin(), stuck.end(), is_worse);
    std::string text = message(stuck.front(), window);
    return fired(std::move(text), kAdvice, std::move(stuck));
  }

  std::vector<Collection> needs() const override {
    return needs_of(selection_, "loss_not_decreasing", KeepForm::whole(), 1);
  }

 private:
  using SeriesKey = std::pair<std::string, std::string>;  // tensor, worker

  static Verdict not_judged_mode(Mode mode, Mode judged) {
    return Verdict::not_applicable(
        fmt::format("a {} step; the losses of {} steps are judged", name(mode), name(judged)));
  }

  // True when the step's mode is the one to judge. A better mode that turns up begins all series again.
  bool prefer(Mode mode) {
    if (preference(mode) == 0) return false;
    if (!preferred_ || preference(mode) > preference(*preferred_)) {
      preferred_ = mode;
      series_.clear();
    }
    return mode == *preferred_;
  }

  std::int64_t counted_step(const StepWindow& window) const {
    const StepPlace place = place_of(window);
    return mode_ == Mode::kGlobal ? place.global_step : place.mode_step;
  }

  std::optional<LossComparison> add_point(const TensorReduction& loss, const StepWindow& window) {
    LossSeries& series = series_.try_emplace({loss.spot.tensor, loss.spot.worker}, num_steps_).first->second;
    return series.add({counted_step(window), loss.value});
  }

  std::string next_comparison(const StepReductions& losses, const StepWindow& window) const {
    const TensorSpot& first = losses.tensors.front().spot;
    const std::int64_t due = series_.at({first.tensor, first.worker}).next_due();
    return fmt::format("\"{}\" is compared next at the first saved step from {} on; this is {}", first.tensor, due,
                       describe_step(window));
  }

  Evidence evidence(const TensorSpot& loss, const LossComparison& comparison, const StepWindow& window) const {
    const double decrease = decrease_percent(comparison.before.loss, comparison.now.loss);
    Evidence evidence{loss.tensor, loss.shown_worker,    "decrease_percent",
                      decrease,    limits_.diff_percent, window.global_step()};
    if (decrease < 0) {
      std::tie(evidence.quantity, evidence.value, evidence.threshold) =
          std::tuple("increase_percent", -decrease, limits_.increase_threshold_percent);
    } else if (std::isnan(decrease)) {
      evidence.quantity = "loss";
      evidence.value = comparison.now.loss;
    }
    return evidence;
  }

  // NaN, then rises, the highest first, then what fell the least.
  static bool is_worse(const Evidence& a, const Evidence& b) {
    const auto badness = [](const Evidence& e) {
      if (std::isnan(e.value)) return std::pair(2, 0.0);
      return e.quantity == "increase_percent" ? std::pair(1, e.value) : std::pair(0, -e.value);
    };
    return badness(a) > badness(b);
  }

  std::string message(const Evidence& worst, const StepWindow& window) const {
    const std::string where = fmt::format("\"{}\" at {}", worst.tensor, describe_step(window));
    if (std::isnan(worst.value)) return fmt::format("The loss {} is not a number.", where);
    if (worst.quantity == "increase_percent") {
      return fmt::format("The loss {} is {:.3g} % higher than at least {} steps before; up to {:g} % are put up with.",
                         where, worst.value, num_steps_, worst.threshold);
    }
    return fmt::format("The loss {} is only {:.3g} % lower than at least {} steps before; {:g} % are asked for.", where,
                       worst.value, num_steps_, worst.threshold);
  }

  const TensorSelection selection_;
  const std::int64_t num_steps_;
  const LossLimits limits_;
  const std::optional<Mode> mode_;
  std::optional<Mode> preferred_;  // when mode_ is not set: the best mode that had a loss so far
  std::map<SeriesKey, LossSeries> series_;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  TensorSelection selection;
  selection.collections = read.list("collection_names");
  selection.patterns = read.patterns("tensor_regex");
  if (read.boolean("use_losses_collection")) selection.collections.emplace_back(kLossesCollection);
  const std::int64_t num_steps = read.integer("num_steps", 1, kMostSteps);
  LossLimits limits;
  limits.diff_percent = read.number("diff_percent", 0);
  limits.increase_threshold_percent = read.number("increase_threshold_percent", 0);
  const std::optional<Mode> mode = read.mode("mode");
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  if (selection.collections.empty() && selection.patterns.empty()) {
    return Status(Code::kInvalidArgument,
                  "no loss is chosen: give collection_names or tensor_regex, or leave use_losses_collection True");
  }
  return std::unique_ptr<Rule>(new LossNotDecreasing(std::move(selection), num_steps, limits, mode));
}

}  // namespace
}  // namespace loss_not_decreasing_rule

RuleKind loss_not_decreasing() {
  RuleDescription description;
  description.name = "LossNotDecreasing";
  description.summary = "Fires when a loss does not fall, or rises, over a number of steps.";
  description.parameters = {
      {"collection_names", "", "collections whose tensors are judged, separated by commas"},
      {"tensor_regex", "", "patterns of tensors that are judged too"},
      {"use_losses_collection", "True", "True: the tensors of the collection losses are judged too"},
      {"num_steps", "10", "steps between a loss and the earlier one that it is compared with, at least"},
      {"diff_percent", "0.1", "the least decrease, in percent of the earlier loss; 0: any decrease will do"},
      {"increase_threshold_percent", "5", "an increase up to this many percent of the earlier loss is put up with"},
      {"mode", "",
       "train, eval or predict: only their steps, by their own numbers; global: all steps by global "
       "number; nothing: eval when there are eval losses, else train, else steps without a mode"}};
  description.topic = "losses";
  description.details =
      R"(**When.** A loss is compared with the latest saved one that is at least `num_steps` before it; the next comparison is
at the first saved step at least `num_steps` later. With `num_steps=10` and a loss that is saved every 3 steps, step 21 is
compared with step 9, and the next comparison is at step 33. Steps between comparisons are `insufficient_data`.

**What.** d = (earlier - now) / |earlier| · 100. It fires when 0 ≤ d < `diff_percent`, or d = 0 (the loss did not fall
enough), when d < 0 and -d > `increase_threshold_percent` (it rose too much), and when the loss is NaN now. With an earlier
loss of 0 or infinity any lower loss counts as an infinite decrease, any higher one as an infinite increase. A loss of
several elements is taken by its mean. Evidence: `decrease_percent`, `increase_percent` or `loss`.

The word `diff_percent` once had another meaning: the tests of 2019 of SageMaker Debugger's rule took it for the increase
that is allowed; its later documentation, which we follow, calls it the decrease that is asked for.

Not one of the default rules: two single losses ten steps apart are compared, and the noise of batches alone makes that
fire in nearly every training. LossSpike, LossDrift and Divergence know the noise.)";
  description.source = "the documented rule of SageMaker Debugger";
  description.in_process = true;
  description.consequences = {"Overtraining"};
  return {std::move(description), loss_not_decreasing_rule::create};
}

}  // namespace trainwarden::rules
