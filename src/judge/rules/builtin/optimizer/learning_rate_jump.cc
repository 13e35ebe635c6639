// LearningRateJump: a learning rate that is no rate, jumps up, or is nothing.
//
// Source: profiler specification, rule 39 (bugs of schedules; 17 of DeepFD's 52 cases are about the learning rate).
// What fires: a rate that is NaN, infinite or negative; one that is `jump` times the one before and higher than ever in
// its group, from a level of at least least_rate; rates that are all 0 for zero_steps. Ours: what is no fault. A warm
// restart goes to a rate that was there before; a warm-up begins at a rate below least_rate, or 0; a group that is new,
// or was frozen at 0, has no jump. A fall of more than `jump` times is a note. State: three numbers for each group.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/optimizer/optimizer_rules.h"
#include "judge/rules/needs.h"
#include "judge/rules/parameters.h"
#include "judge/rules/signals.h"
#include "judge/rules/step_statistics.h"
#include "judge/rules/training_facts.h"

namespace trainwarden::rules {
namespace learning_rate_jump_rule {
namespace {

constexpr std::int64_t kMostSteps = 1'000'000;
constexpr double kHigher = 1.05;    // than the highest rate so far
constexpr double kRounding = 1e-6;  // a jump of exactly 10 comes out as 9.9999999
constexpr const char* kAdvice =
    "Print the learning rate around this step and look at the schedule: the unit it counts in (steps or epochs), the "
    "factor's direction, and whether its step() is called once.";

constexpr double kFlat = 1.001;
constexpr std::int64_t kNearSteps = 10;  // train steps between two looks in which a rise is a sudden one

struct Rates {
  double last = 0;  // 0: not known, or 0
  double highest = 0;
  std::int64_t step = 0;  // of the last one
  bool is_rising = true;  // was it higher than the one before it, or the first?
};

class LearningRateJump final : public Rule {
 public:
  LearningRateJump(double jump, double least_rate, std::int64_t zero_steps)
      : jump_(jump), least_rate_(least_rate), zero_steps_(zero_steps) {}

  Verdict evaluate(const StepWindow& window) override {
    const auto rates = read_signals(window, signals::kLearningRate);
    if (!rates.ok()) return Verdict::insufficient_data(rates.status().message());
    if (rates->empty()) return Verdict::not_applicable("no learning rate was captured at this step");
    std::vector<Evidence> evidence;
    std::string text;
    Severity severity = Severity::kInfo;
    for (const SignalValue& rate : *rates) {
      const auto [found, what] = look_at(rate, window);
      if (found) {
        evidence.push_back(*found);
        if (text.empty() || what.severity > severity) text = what.text;
        severity = std::max(severity, what.severity);
      }
      take(rate, window.mode_step());
    }
    count_zeros(*rates);
    if (evidence.empty() && zeros_ >= zero_steps_) return verdict_on_zeros(*rates, window);
    if (evidence.empty()) return Verdict::ok();
    return fired(std::move(text), kAdvice, std::move(evidence), severity);
  }

  std::vector<Collection> needs() const override { return {need_signals()}; }

 private:
  using Key = std::pair<std::string, std::string>;  // signal, worker
  struct What {
    Severity severity = Severity::kInfo;
    std::string text;
  };

  std::pair<std::optional<Evidence>, What> look_at(const SignalValue& rate, const StepWindow& window) const {
    const Evidence evidence{rate.spot.tensor,    rate.spot.shown_worker, "learning_rate", rate.value, 0,
                            window.global_step()};
    const std::string at = fmt::format("\"{}\" at {}", rate.spot.tensor, describe_step(window));
    if (!std::isfinite(rate.value) || rate.value < 0) {
      return {evidence, {Severity::kError, fmt::format("The learning rate {} is {:g}.", at, rate.value)}};
    }
    const auto known = rates_.find(Key(rate.spot.tensor, rate.spot.worker));
    if (known == rates_.end() || !(known->second.last > 0) || rate.value == 0) return {};
    const Rates& before = known->second;
    const double ratio = rate.value / before.last;
    Evidence jump = evidence;
    jump.quantity = ratio > 1 ? "rise" : "fall";
    jump.value = ratio > 1 ? ratio : 1 / ratio;
    jump.threshold = jump_;
    if (ratio >= jump_ * (1 - kRounding) && rate.value > kHigher * before.highest) {
      // Of what has risen before and was not looked at for a while, it is not known how suddenly it rose.
      const bool is_far = before.is_rising && window.mode_step() - before.step > kNearSteps;
      const bool is_warm_up = before.highest < least_rate_ || is_far;
      return {
          jump,
          {is_warm_up ? Severity::kInfo : Severity::kWarning,
           fmt::format("The learning rate {} is {:.3g}, {:.3g} times as high as before ({:.3g}), and higher than ever.",
                       at, rate.value, ratio, before.last)}};
    }
    if (ratio * jump_ < 1 - kRounding) {
      return {
          jump,
          {Severity::kInfo, fmt::format("The learning rate {} has fallen from {:.3g} to {:.3g}, {:.3g} times lower.",
                                        at, before.last, rate.value, 1 / ratio)}};
    }
    return {};
  }

  void take(const SignalValue& rate, std::int64_t step) {
    Rates& rates = rates_[Key(rate.spot.tensor, rate.spot.worker)];
    rates.is_rising = rates.last == 0 || rate.value > kFlat * rates.last;
    rates.step = step;
    rates.last = std::isfinite(rate.value) && rate.value > 0 ? rate.value : 0;
    rates.highest = std::max(rates.highest, rates.last);
  }

  void count_zeros(const std::vector<SignalValue>& rates) {
    const bool all_zero =
        std::all_of(rates.begin(), rates.end(), [](const SignalValue& rate) { return rate.value == 0; });
    zeros_ = all_zero ? zeros_ + 1 : 0;
  }

  Verdict verdict_on_zeros(const std::vector<SignalValue>& rates, const StepWindow& window) const {
    const TensorSpot& spot = rates.front().spot;
    return fired(fmt::format("The learning rate \"{}\" has been 0 for {} steps at {}: nothing is learned.", spot.tensor,
                             zeros_, describe_step(window)),
                 kAdvice,
                 {{spot.tensor, spot.shown_worker, "steps_at_zero", static_cast<double>(zeros_),
                   static_cast<double>(zero_steps_), window.global_step()}});
  }

  const double jump_;
  const double least_rate_;
  const std::int64_t zero_steps_;
  std::map<Key, Rates> rates_;
  std::int64_t zeros_ = 0;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  const double jump = read.number("jump", 1);
  const double least_rate = read.number("least_rate", 0);
  const std::int64_t zero_steps = read.integer("zero_steps", 1, kMostSteps);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new LearningRateJump(jump, least_rate, zero_steps));
}

}  // namespace
}  // namespace learning_rate_jump_rule

RuleKind learning_rate_jump() {
  RuleDescription description;
  description.name = "LearningRateJump";
  description.summary = "Fires when a learning rate is not a positive number, jumps up, or stays 0.";
  description.parameters = {
      {"jump", "10", "from one step to the next, times the rate before"},
      {"least_rate", "0.00001", "a rise from rates that were always below this is a warm-up, and a note"},
      {"zero_steps", "20", "steps at which all rates may be 0"}};
  description.topic = "training";
  description.details =
      R"(Judges the learning rate of every parameter group (signals `trainwarden/learning_rate/N`) at each step. Fires as an
error when a rate is NaN, infinite or negative; as a warning when it is at least `jump` times the one before and higher
than ever before in its group, and when all rates have been 0 for `zero_steps`. Evidence: `learning_rate`, `rise`,
`steps_at_zero`.

No jump: a warm restart, which goes back to a rate that was there before; the first rate of a group, also of one that was
0 until then. Notes: a rise from rates that were always below `least_rate` (warm-ups that begin at next to nothing) and a
fall by more than `jump` times. A jump that lies within one step of a schedule by epochs is seen like any other.)";
  description.source = "DeepFD's study of faults (learning rate in 17 of 52); the limits are ours";
  description.by_default = true;
  description.in_process = true;
  description.consequences = {"LossSpike",         "Divergence",      "LossDrift",       "GradientSpike",
                              "LossNotDecreasing", "NonFiniteOrigin", "ExplodingTensor", "WeightUpdateRatio",
                              "NoOpUpdate",        "DeadRelu",        "UnchangedTensor"};
  return {std::move(description), learning_rate_jump_rule::create};
}

}  // namespace trainwarden::rules
