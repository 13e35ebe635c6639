// MissingZeroGrad: gradients that the optimizer has used are added to, instead of being zeroed.
//
// Source: zero_grad as in the PyTorch documentation; the definition by what gradients hold when the backward pass
// begins is ours. Fires when used gradients were still there at the first backward pass of `steps` steps in a row, and
// no gradients were zeroed in any of them. Accumulation over several micro-batches steps once and zeroes once, so its
// used gradients are gone by then. Of several optimizers one may still hold used gradients when the other's backward
// pass begins (a GAN's generator does); since all zero theirs somewhere in the step, the rule is silent.
//
// State: for each worker, how many steps in a row.
#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/training/signal_reading.h"
#include "judge/rules/builtin/training/training_rules.h"
#include "judge/rules/needs.h"
#include "judge/rules/parameters.h"
#include "judge/rules/step_statistics.h"

namespace trainwarden::rules {
namespace missing_zero_grad_rule {
namespace {

constexpr std::int64_t kMostSteps = 1'000'000;
constexpr std::size_t kMostCalls = 256;  // trainwarden/calls has no more: what followed is not known
constexpr const char* kAdvice =
    "Call optimizer.zero_grad() once for each step of the optimizer; trainwarden/stale_gradients is 0 from then on.";

class MissingZeroGrad final : public Rule {
 public:
  explicit MissingZeroGrad(std::int64_t steps) : steps_(steps) {}

  Verdict evaluate(const StepWindow& window) override {
    const auto stale = scalar_signals(window, signals::kStaleGradients);
    if (stale.signals.empty()) return nothing_to_judge(stale.gaps, "signal trainwarden/stale_gradients", window);
    const auto calls = list_signals(window, signals::kCalls);
    std::vector<Evidence> evidence;
    std::size_t judged = 0;
    for (const auto& [worker, most] : most_by_worker(stale)) {
      const std::vector<double>* const order = signal_of(calls, worker);
      if (order == nullptr) continue;
      ++judged;
      std::int64_t& in_a_row = in_a_row_[worker];
      if (!(most.value > 0) || zeroes(*order)) {
        in_a_row = 0;
      } else if (order->size() < kMostCalls && ++in_a_row >= steps_) {
        evidence.push_back(
            {most.spot.tensor, most.spot.shown_worker, "stale_gradients", most.value, 0, window.global_step()});
      }
    }
    if (judged == 0) return nothing_to_judge(calls.gaps, "signal trainwarden/calls", window);
    if (evidence.empty()) return Verdict::ok();
    std::stable_sort(evidence.begin(), evidence.end(),
                     [](const Evidence& a, const Evidence& b) { return a.value > b.value; });
    std::string message = fmt::format(
        "Gradients are added to those of earlier steps: at {} and the {} steps before, parameters (at least {:g}) "
        "still had a gradient that the optimizer had used when the backward pass began, and nothing called zero_grad.",
        describe_step(window), steps_ - 1, evidence.front().value);
    return fired(std::move(message), kAdvice, std::move(evidence), Severity::kError);
  }

  std::vector<Collection> needs() const override { return {need_signals()}; }

 private:
  // Each optimizer may have said its own.
  static std::map<std::string, Signal<double>> most_by_worker(const SignalsFound<double>& stale) {
    std::map<std::string, Signal<double>> most;
    for (const Signal<double>& signal : stale.signals) {
      const auto [known, is_new] = most.try_emplace(signal.spot.worker, signal);
      if (!is_new && signal.value > known->second.value) known->second = signal;
    }
    return most;
  }

  static bool zeroes(const std::vector<double>& order) {
    return std::find(order.begin(), order.end(), static_cast<double>(signals::Call::kZeroGrad)) != order.end();
  }

  const std::int64_t steps_;
  std::map<std::string, std::int64_t> in_a_row_;  // by worker
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  const std::int64_t steps = read.integer("steps", 1, kMostSteps);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new MissingZeroGrad(steps));
}

}  // namespace
}  // namespace missing_zero_grad_rule

RuleKind missing_zero_grad() {
  return {
      {.name = "MissingZeroGrad",
       .summary = "Fires when gradients are never zeroed, so that each step also repeats all earlier ones.",
       .parameters = {{"steps", "3", "steps in a row with used gradients and without zero_grad"}},
       .topic = "training",
       .details =
           "Fires when, at the first backward pass of several steps in a row, parameters still had a gradient other "
           "than zero which the optimizer had already used (`trainwarden/stale_gradients`), and no gradients were "
           "zeroed in any of these steps (`trainwarden/calls`). Deliberate accumulation over micro-batches zeroes "
           "once for each step of the optimizer and stays silent.\n\n"
           "It cannot see that one of several models is zeroed and another is not, nor steps with 256 calls or "
           "more. Evidence: `stale_gradients`, the number of such parameters among those "
           "that were looked at; the threshold is 0.",
       .source = "the PyTorch documentation of zero_grad; the definition is ours",
       .by_default = true,
       .in_process = false,
       .consequences = {"LossNotDecreasing", "LossSpike", "Divergence", "GradientSpike", "ExplodingTensor"}},
      missing_zero_grad_rule::create};
}

}  // namespace trainwarden::rules
