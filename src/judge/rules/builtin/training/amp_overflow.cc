// AmpOverflow: a gradient scaler that finds no scale at which the gradients stay finite.
//
// Source: dynamic loss scaling as in PyTorch's GradScaler: a step whose gradients are not finite is left out and halves
// the scale, a number of good steps doubles it. Three steps left out in a row, a scale below 1, or more than five
// halvings within 1000 steps. Ours: a halving that takes back a doubling is how the scaler works and does not count,
// only the net number does; and the scale starts far too high on purpose, so during the scaler's first
// `calibration_steps` steps only a scale below 1 counts.
//
// State: for each worker, the last scale, a counter, and the changes of the scale within 1000 steps.
#include <algorithm>
#include <charconv>
#include <deque>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/training/signal_reading.h"
#include "judge/rules/builtin/training/training_rules.h"
#include "judge/rules/needs.h"
#include "judge/rules/parameters.h"
#include "judge/rules/step_statistics.h"

namespace trainwarden::rules {
namespace amp_overflow_rule {
namespace {

constexpr std::int64_t kMostSteps = 1'000'000;
constexpr std::size_t kWindow = 1000;  // steps of the scaler
constexpr double kLowestScale = 1;
constexpr const char* kAdvice =
    "Look which gradients are not finite (the rule NonFiniteOrigin names the first); lower the learning rate, clip "
    "after unscale_, or keep the layer that overflows in float32 or use bfloat16.";

// What the scaler did at one of its steps.
struct ScalerStep {
  double scale = 0;
  bool skipped = false;
};

class ScalerHistory {
 public:
  // Of several optimizers at the same scale each is a step of the scaler; together they count once.
  void add(const ScalerStep& step) {
    const bool same_update = step.skipped && skips_ > 0 && step.scale == scale_;
    if (!same_update) {
      ++steps_;
      changes_.push_back(scale_ == 0 || step.scale == scale_ ? 0 : (step.scale < scale_ ? 1 : -1));
      if (changes_.size() > kWindow) changes_.pop_front();
      skips_ = step.skipped ? skips_ + 1 : 0;
    }
    scale_ = step.scale;
  }
  void forget_changes() { changes_.clear(); }

  double scale() const { return scale_; }
  std::int64_t steps() const { return steps_; }
  std::int64_t skips() const { return skips_; }  // in a row
  std::int64_t net_halvings() const {
    std::int64_t net = 0;
    for (const int change : changes_) net += change;
    return net;
  }

 private:
  double scale_ = 0;  // 0: none yet
  std::int64_t steps_ = 0;
  std::int64_t skips_ = 0;
  std::deque<int> changes_;  // 1: it fell, -1: it rose
};

// The number of a name that was saved more than once in a step: "x" → 0, "x#2" → 2.
int repeat_of(const std::string& tensor) {
  const std::size_t mark = tensor.rfind('#');
  int number = 0;
  if (mark != std::string::npos) std::from_chars(tensor.data() + mark + 1, tensor.data() + tensor.size(), number);
  return number;
}

// By worker, what its scaler did in this step, in order.
std::map<std::string, std::map<int, ScalerStep>> scaler_steps(const SignalsFound<double>& scales,
                                                              const SignalsFound<double>& skipped) {
  std::map<std::string, std::map<int, ScalerStep>> steps;
  for (const auto& [spot, scale] : scales.signals) steps[spot.worker][repeat_of(spot.tensor)].scale = scale;
  for (const auto& [spot, flag] : skipped.signals) {
    auto& of_worker = steps[spot.worker];
    const auto found = of_worker.find(repeat_of(spot.tensor));
    if (found != of_worker.end()) found->second.skipped = flag > 0;
  }
  return steps;
}

class AmpOverflow final : public Rule {
 public:
  AmpOverflow(std::int64_t skips, std::int64_t halvings, std::int64_t calibration_steps)
      : skips_(skips), halvings_(halvings), calibration_steps_(calibration_steps) {}

  Verdict evaluate(const StepWindow& window) override {
    const auto scales = scalar_signals(window, signals::kAmpScale);
    if (scales.signals.empty()) return nothing_to_judge(scales.gaps, "signal trainwarden/amp/scale", window);
    const bool many_workers = window.workers().size() > 1;
    std::vector<Evidence> evidence;
    for (const auto& [worker, steps] : scaler_steps(scales, scalar_signals(window, signals::kAmpSkipped))) {
      ScalerHistory& history = histories_[worker];
      for (const auto& [number, step] : steps) {
        if (step.scale > 0) judge_step(history, step, many_workers ? worker : "", window.global_step(), evidence);
      }
    }
    if (evidence.empty()) return Verdict::ok();
    std::string text = message(evidence.front(), window);
    return fired(std::move(text), kAdvice, std::move(evidence));
  }

  std::vector<Collection> needs() const override { return {need_signals()}; }

 private:
  void judge_step(ScalerHistory& history, const ScalerStep& step, const std::string& shown_worker,
                  std::int64_t global_step, std::vector<Evidence>& evidence) const {
    history.add(step);
    const auto add = [&](std::string_view tensor, const char* quantity, double value, double threshold) {
      evidence.push_back({std::string(tensor), shown_worker, quantity, value, threshold, global_step});
    };
    if (history.scale() < kLowestScale) add(signals::kAmpScale, "scale", history.scale(), kLowestScale);
    if (history.steps() <= calibration_steps_) return history.forget_changes();
    if (history.skips() >= skips_) {
      add(signals::kAmpSkipped, "skipped_in_a_row", static_cast<double>(history.skips()), static_cast<double>(skips_));
    }
    if (history.net_halvings() > halvings_) {
      add(signals::kAmpScale, "halvings", static_cast<double>(history.net_halvings()), static_cast<double>(halvings_));
    }
  }

  static std::string message(const Evidence& worst, const StepWindow& window) {
    const std::string step = describe_step(window);
    if (worst.quantity == "scale") {
      return fmt::format(
          "The loss scale has fallen to {:.3g} at {}: gradients overflow even when they are not scaled up.",
          worst.value, step);
    }
    if (worst.quantity == "skipped_in_a_row") {
      return fmt::format("The gradient scaler has left out {} steps in a row at {}, since gradients were not finite.",
                         worst.value, step);
    }
    return fmt::format(
        "The loss scale was halved {} times more than doubled within {} steps at {}; {} are put up with.", worst.value,
        kWindow, step, worst.threshold);
  }

  const std::int64_t skips_;
  const std::int64_t halvings_;
  const std::int64_t calibration_steps_;
  std::map<std::string, ScalerHistory> histories_;  // by worker
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  const std::int64_t skips = read.integer("skipped_steps", 1, kMostSteps);
  const std::int64_t halvings = read.integer("halvings", 0, kMostSteps);
  const std::int64_t calibration = read.integer("calibration_steps", 0, kMostSteps);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new AmpOverflow(skips, halvings, calibration));
}

}  // namespace
}  // namespace amp_overflow_rule

RuleKind amp_overflow() {
  return {
      {.name = "AmpOverflow",
       .summary = "Fires when a gradient scaler keeps leaving out steps because gradients overflow.",
       .parameters = {{"skipped_steps", "3", "steps left out in a row"},
                      {"halvings", "5", "times that the scale may be halved more often than doubled in 1000 steps"},
                      {"calibration_steps", "100",
                       "first steps of the scaler, while it looks for its scale: only a scale below 1 counts"}},
       .topic = "training",
       .details =
           "Fires when the loss scale of a gradient scaler (`trainwarden/amp/scale`) falls below 1; when, after its "
           "first steps, several steps in a row are left out (`trainwarden/amp/skipped`); or when the scale is "
           "halved more than `halvings` times within 1000 steps without having been doubled before.\n\n"
           "Needs the signals, and so a program with a gradient scaler; in bfloat16 there is none. Several "
           "optimizers that leave out a step at the same scale count once. Evidence: `scale`, `skipped_in_a_row`, "
           "`halvings`.",
       .source = "dynamic loss scaling as in PyTorch's GradScaler; the calibration and the net count are ours",
       .by_default = true,
       .in_process = true,
       .consequences = {"LossNotDecreasing"}},
      amp_overflow_rule::create};
}

}  // namespace trainwarden::rules
