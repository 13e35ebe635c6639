// CallOrder: forward, backward, step and zero_grad in an order that loses gradients or uses wrong ones.
//
// Source: the order of calls as an invariant, TrainCheck (OSDI 2025); that norms are clipped after the loss scale has
// been divided out, PyTorch's recipe for mixed precision. Ours: each worker is judged by itself, and a mistake counts
// when it was made in min_steps of the last 20 steps of the optimizer, so that what a program does once (a first step
// that only makes the optimizer's state) is no mistake. Several backward passes before a step are accumulation, which
// is fine. What depends on whose gradients were zeroed is judged only where there is a single optimizer.
//
// State: 20 bits for each mistake of each worker, and two counters.
#include <algorithm>
#include <bitset>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/training/call_mistakes.h"
#include "judge/rules/builtin/training/signal_reading.h"
#include "judge/rules/builtin/training/training_rules.h"
#include "judge/rules/needs.h"
#include "judge/rules/parameters.h"
#include "judge/rules/step_statistics.h"

namespace trainwarden::rules {
namespace call_order_rule {
namespace {

using signals::Call;

constexpr std::size_t kRemembered = 20;      // steps of the optimizer
constexpr std::size_t kMostCalls = 256;      // trainwarden/calls has no more: what followed is not known
constexpr std::int64_t kGradientSteps = 20;  // from the first on, the gradients are looked at
constexpr std::int64_t kForwardHabit = 20;   // steps with a forward pass in each make a habit
constexpr double kSureOfOrder = 0.95;

struct MistakeText {
  const char* quantity;
  const char* message;
  const char* advice;
  Severity severity;
};

// At the index of the CallMistake.
constexpr MistakeText kTexts[kCallMistakes] = {
    {"steps_without_any_backward", "The optimizer steps, but there has been no backward pass yet and no gradient",
     "Call loss.backward() before the optimizer's step; afterwards the collection gradients holds the gradients.",
     Severity::kError},
    {"steps_without_backward", "An optimizer stepped without a backward pass since its last step",
     "Call loss.backward() before each step of the optimizer, and step once for each backward pass or accumulation; "
     "the calls are in the tensor trainwarden/calls.",
     Severity::kWarning},
    {"steps_after_zero_grad", "The gradients were zeroed between the backward pass and the optimizer's step",
     "Move zero_grad() before loss.backward() or behind the optimizer's step; the weights will then change.",
     Severity::kError},
    {"clips_before_unscale", "The gradients were clipped while they were still multiplied by the loss scale",
     "Call scaler.unscale_(optimizer) before clipping; trainwarden/clip/norm falls by the factor of the loss scale.",
     Severity::kWarning},
    {"backwards_without_forward", "A backward pass ran without a forward pass of the model, which there was before",
     "See that the model is called in each step: with retain_graph a backward pass can run over an old loss.",
     Severity::kInfo},
};

class CallOrder final : public Rule {
 public:
  explicit CallOrder(std::int64_t min_steps) : min_steps_(static_cast<std::size_t>(min_steps)) {}

  Verdict evaluate(const StepWindow& window) override {
    // Calls of steps that were not captured are missed.
    if (window.global_step() != last_step_ + 1) {
      for (auto& [worker, state] : workers_) state.history.forget();
    }
    last_step_ = window.global_step();
    const auto found = list_signals(window, signals::kCalls);
    take_optimizers(window);
    if (found.signals.empty()) return nothing_to_judge(found.gaps, "signal trainwarden/calls", window);
    const auto scales = scalar_signals(window, signals::kAmpScale);
    std::size_t judged = 0;
    std::vector<Finding> findings;
    for (const auto& [spot, codes] : found.signals) {
      if (codes.size() >= kMostCalls) {
        workers_[spot.worker].history.forget();
        continue;
      }
      const double* const scale = signal_of(scales, spot.worker);
      if (judge_worker(window, spot, known_calls(codes), scale != nullptr && *scale != 1, findings)) ++judged;
    }
    if (judged == 0) {
      return Verdict::not_applicable(
          fmt::format("no optimizer stepped at {}, or there were too many calls", describe_step(window)));
    }
    return verdict(std::move(findings), window);
  }

  std::vector<Collection> needs() const override {
    SaveSchedule at_first;
    at_first.save_interval = 1;
    at_first.end_step = kGradientSteps;
    return {need_signals(), {.name = "gradients", .save = SavePolicy::of(at_first), .keep = KeepForm::reduced()}};
  }

 private:
  struct WorkerState {
    std::array<std::bitset<kRemembered>, kCallMistakes> made;  // the newest in bit 0
    CallHistory history;
    std::int64_t forward_steps = 0;  // in a row, with a forward pass
  };
  struct Finding {
    CallMistake mistake;
    Evidence evidence;
    std::string calls;
  };

  void take_optimizers(const StepWindow& window) {
    const auto recorded = json_signals(window, signals::kOptimizer);
    for (const auto& [spot, json] : recorded.signals) {
      const auto listed = format::array_field(json, "optimizers");
      if (listed.ok()) most_optimizers_ = std::max(most_optimizers_, (*listed)->size());
    }
  }

  static std::vector<Call> known_calls(const std::vector<double>& codes) {
    std::vector<Call> calls;
    for (const double code : codes) {
      if (code >= 1 && code <= 6) calls.push_back(static_cast<Call>(static_cast<unsigned char>(code)));
    }
    return calls;
  }

  // False when no optimizer stepped.
  bool judge_worker(const StepWindow& window, const TensorSpot& spot, const std::vector<Call>& calls, bool scaled,
                    std::vector<Finding>& findings) {
    WorkerState& state = workers_[spot.worker];
    const CallContext context{.optimizers = most_optimizers_,
                              .scaled = scaled,
                              .forward_always = state.forward_steps >= kForwardHabit,
                              .gradients = gradients_at(window, spot.worker)};
    const auto mistakes = find_call_mistakes(calls, context, state.history);
    if (std::count(calls.begin(), calls.end(), Call::kStep) == 0) return false;
    for (std::size_t i = 0; i < kCallMistakes; ++i) {
      state.made[i] = state.made[i] << 1;
      state.made[i][0] = mistakes[i];
      const std::size_t times = state.made[i].count();
      if (!mistakes[i] || times < min_steps_) continue;
      findings.push_back({static_cast<CallMistake>(i),
                          {spot.tensor, spot.shown_worker, kTexts[i].quantity, static_cast<double>(times),
                           static_cast<double>(min_steps_), window.global_step()},
                          describe_calls(calls)});
    }
    const bool forward = std::count(calls.begin(), calls.end(), Call::kForward) > 0;
    // A habit, once made, is kept while it is broken: else only the first steps without would be recorded.
    if (forward || !context.forward_always) state.forward_steps = forward ? state.forward_steps + 1 : 0;
    return true;
  }

  // Statistics, where they were captured; that there are none is known only where they were asked for.
  static Gradients gradients_at(const StepWindow& window, const std::string& worker) {
    bool any = false;
    bool some = false;
    bool unread = false;
    (void)visit_tensors({.collections = {"gradients"}}, window, [&](const TensorSpot& spot) -> Status {
      if (spot.worker != worker || some) return {};
      any = true;
      const auto largest = window.reduction(spot, Reduction::kMax, true);
      unread |= !largest.ok();
      some |= largest.ok() && *largest != 0;  // NaN is something
      return {};
    });
    if (some) return Gradients::kSome;
    if (unread) return Gradients::kUnknown;
    if (any) return Gradients::kZero;
    return window.mode_step() < kGradientSteps ? Gradients::kNone : Gradients::kUnknown;
  }

  // The worst mistake decides: an error before a warning, a warning before a note.
  Verdict verdict(std::vector<Finding> findings, const StepWindow& window) const {
    if (findings.empty()) return Verdict::ok();
    const auto worse = [](const Finding& a, const Finding& b) {
      return kTexts[static_cast<std::size_t>(a.mistake)].severity >
             kTexts[static_cast<std::size_t>(b.mistake)].severity;
    };
    std::stable_sort(findings.begin(), findings.end(), worse);
    const Finding& worst = findings.front();
    const MistakeText& text = kTexts[static_cast<std::size_t>(worst.mistake)];
    std::string message =
        fmt::format("{} at {}, as in {} of the last {} steps of the optimizer; the calls were: {}.", text.message,
                    describe_step(window), worst.evidence.value, kRemembered, worst.calls);
    std::vector<Evidence> evidence;
    for (Finding& finding : findings) evidence.push_back(std::move(finding.evidence));
    Verdict verdict = fired(std::move(message), text.advice, std::move(evidence), text.severity);
    verdict.confidence = text.severity == Severity::kInfo ? 0.5 : kSureOfOrder;
    return verdict;
  }

  const std::size_t min_steps_;
  std::size_t most_optimizers_ = 0;  // 0: not known
  std::int64_t last_step_ = -1;      // that was judged
  std::map<std::string, WorkerState> workers_;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  const std::int64_t min_steps = read.integer("min_steps", 1, kRemembered);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new CallOrder(min_steps));
}

}  // namespace
}  // namespace call_order_rule

RuleKind call_order() {
  return {{.name = "CallOrder",
           .summary = "Fires when forward, backward, step and zero_grad come in an order that loses gradients.",
           .parameters = {{"min_steps", "3", "of the last 20 steps of the optimizer, how many must have the mistake"}},
           .topic = "training",
           .details =
               "Judges the order of calls in each step (`trainwarden/calls`). Fires when the optimizer steps without a "
               "backward pass, or without there ever having been one; when gradients are zeroed between the backward "
               "pass and the step; when gradients are clipped before they are unscaled although a gradient scaler is "
               "in use. A backward pass without a forward pass, in a program that had one in each of 20 steps, is a "
               "note. Several backward passes before a step are accumulation, and fine.\n\n"
               "Needs the signals, and the gradients of the first 20 steps: a program that puts gradients of its own "
               "in their place is not at fault. Zeroing is judged only where `trainwarden/optimizer` reports a single "
               "optimizer, since the calls do not say whose they are; of several optimizers each may step once after a "
               "backward pass. It cannot see steps with 256 calls or more, an optimizer that never steps, and passes "
               "that go by torch.autograd.grad alone.\n\n"
               "Evidence: `steps_without_any_backward`, `steps_without_backward`, `steps_after_zero_grad`, "
               "`clips_before_unscale`, `backwards_without_forward`, each the number of steps with the mistake among "
               "the last 20.",
           .source = "relations between API calls as in TrainCheck (OSDI 2025); PyTorch's recipe for mixed precision "
                     "(unscale before clipping); the counting is ours",
           .by_default = true,
           .in_process = false,
           .consequences = {"LossNotDecreasing", "VanishingGradient", "UnchangedTensor"}},
          call_order_rule::create};
}

}  // namespace trainwarden::rules
