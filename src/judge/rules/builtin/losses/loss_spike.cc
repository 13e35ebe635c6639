// LossSpike: a loss that jumps far above its own noise; judged by whether it comes back.
//
// Source: profiler specification, rule 3, and ZClip for the z-score of the logarithm (spike_detector.h). Ours: a spike
// that recovers is a note; one that lasts is a warning, and an error when the loss is back where it began. What is an
// ordinary part of some trainings stays a note: several optimizers (adversarial), a learning rate that returns to a
// level it had before (warm restarts), a loss that is still below kSmall of where it began.
//
// State: a few numbers for each loss.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/losses/losses_rules.h"
#include "judge/rules/builtin/losses/spike_detector.h"
#include "judge/rules/builtin/losses/train_losses.h"
#include "judge/rules/needs.h"
#include "judge/rules/parameters.h"
#include "judge/rules/step_statistics.h"
#include "judge/rules/training_facts.h"

namespace trainwarden::rules {
namespace loss_spike_rule {
namespace {

constexpr double kSmall = 0.05;  // of the loss of the first steps
constexpr const char* kAdvice =
    "Look at the batch of the step at which it began, and at the gradients there; go back to a checkpoint before it "
    "and leave that batch out, or clip gradients. If it happens again at another batch, lower the learning rate.";
constexpr const char* kNoteAdvice =
    "Nothing to do if it stays the only one; when spikes come again and again, clip gradients or lower the learning "
    "rate.";

class LossSpike final : public Rule {
 public:
  LossSpike(TensorSelection selection, const SpikeLimits& limits) : selection_(std::move(selection)), limits_(limits) {}

  Verdict evaluate(const StepWindow& window) override {
    return judge_train_losses(selection_, facts_, window, [&](const StepReductions& losses) {
      restarts_.next_step(facts_);
      return judge(losses, window);
    });
  }

  std::vector<Collection> needs() const override {
    std::vector<Collection> needs = needs_of(selection_, "loss_spike", KeepForm::whole(), 1);
    needs.push_back(need_signals());
    return needs;
  }

 private:
  struct Found {
    const TensorReduction* loss = nullptr;
    SpikeReading reading;
    Severity severity = Severity::kInfo;
  };

  Verdict judge(const StepReductions& losses, const StepWindow& window) {
    std::vector<Found> found;
    std::size_t calm = 0;
    std::string waiting;
    for (const TensorReduction& loss : losses.tensors) {
      SpikeDetector& detector = detectors_.try_emplace(key_of(loss), SpikeDetector(limits_)).first->second;
      const SpikeReading reading = detector.add(window.global_step(), loss.value);
      switch (reading.state) {
        case SpikeState::kCalm: ++calm; break;
        case SpikeState::kRecovered: found.push_back({&loss, reading, Severity::kInfo}); break;
        case SpikeState::kLasting: found.push_back({&loss, reading, severity(loss, reading, detector)}); break;
        default:
          if (waiting.empty()) waiting = wait_text(loss, reading);
      }
    }
    if (!found.empty()) return verdict_on(std::move(found), window);
    return calm > 0 ? Verdict::ok() : Verdict::insufficient_data(waiting);
  }

  Severity severity(const TensorReduction& loss, const SpikeReading& reading, const SpikeDetector& detector) const {
    const double start = detector.start_level();
    if (facts_.has_several_optimizers() || loss.value < kSmall * start) return Severity::kInfo;
    if (restarts_.was_within(2 * reading.points)) return Severity::kInfo;
    return loss.value >= start ? Severity::kError : Severity::kWarning;
  }

  static std::string wait_text(const TensorReduction& loss, const SpikeReading& reading) {
    const std::string& tensor = loss.spot.tensor;
    if (reading.state == SpikeState::kUnfit) {
      return fmt::format("\"{}\" is {:g}; the logarithm of a positive loss is judged", tensor, loss.value);
    }
    if (reading.state == SpikeState::kLearning) {
      return fmt::format("the noise of \"{}\" is learned from {} steps", tensor, SpikeDetector::kLearningPoints);
    }
    return fmt::format("\"{}\" has spiked at step {}, and it is not known yet whether that lasts", tensor,
                       reading.first_step);
  }

  Verdict verdict_on(std::vector<Found> found, const StepWindow& window) const {
    std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
      return std::pair(a.severity, a.reading.ratio) > std::pair(b.severity, b.reading.ratio);
    });
    std::vector<Evidence> evidence;
    for (const auto& [loss, reading, severity] : found) {
      const double now = reading.state == SpikeState::kLasting ? loss->value : reading.peak;
      evidence.push_back({loss->spot.tensor, loss->spot.shown_worker, "loss_ratio", now / reading.baseline,
                          limits_.ratio, reading.first_step});
      evidence.push_back({loss->spot.tensor, loss->spot.shown_worker, "z", reading.z, limits_.z, window.global_step()});
    }
    const Found& worst = found.front();
    return fired(message(worst, window), worst.reading.state == SpikeState::kLasting ? kAdvice : kNoteAdvice,
                 std::move(evidence), worst.severity);
  }

  static std::string message(const Found& worst, const StepWindow& window) {
    const auto& [loss, reading, severity] = worst;
    if (reading.state == SpikeState::kRecovered) {
      return fmt::format(
          "The loss \"{}\" spiked at step {} to {:.3g}, {:.3g} times its level, and was back after {} steps.",
          loss->spot.tensor, reading.first_step, reading.peak, reading.peak / reading.baseline,
          reading.points - SpikeDetector::kCalmPoints);
    }
    return fmt::format(
        "The loss \"{}\" jumped at step {} and has not come back by {}: it is {:.3g}, {:.3g} times its level "
        "of {:.3g} before.",
        loss->spot.tensor, reading.first_step, describe_step(window), loss->value, reading.ratio, reading.baseline);
  }

  const TensorSelection selection_;
  const SpikeLimits limits_;
  TrainingFacts facts_;
  RestartWatch restarts_;
  std::map<LossKey, SpikeDetector> detectors_;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  TensorSelection selection;
  selection.collections = read.collections("collection_names");
  const SpikeLimits limits = read_spike_limits(read);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new LossSpike(std::move(selection), limits));
}

}  // namespace
}  // namespace loss_spike_rule

RuleKind loss_spike() {
  RuleDescription description;
  description.name = "LossSpike";
  description.summary =
      "Fires when a loss jumps far above its own noise: a note when it recovers, a warning when it lasts.";
  description.parameters = {
      {"collection_names", "losses", "collections whose tensors are judged, separated by commas"},
      {"z_threshold", "6", "how far the logarithm of the loss is above its mean, in standard deviations of its noise"},
      {"ratio_threshold", "1.3", "and how many times its level the loss is"},
      {"recovery_steps", "50", "steps (of those that hold the loss) within which a spike may recover"}};
  description.topic = "losses";
  description.details =
      R"(The mean and variance of log(loss) are followed by exponential averages (decay 0.9 and 0.97) over training steps. A
spike begins at a step whose loss is at least `z_threshold` deviations and more than `ratio_threshold` times above
them. It is over when three losses in a row are not (less than half of `z_threshold`, or within the ratio): then it
is a note. When it is not over after `recovery_steps` it fires as a warning, and as an error when the loss is as
high as it was at the start. Evidence: `loss_ratio`, at the step where the spike began, and `z`.

A lasting spike stays a note where it is an ordinary part of training: with several optimizers (adversarial
training), after a learning rate returned to a level that it had before (warm restarts), and while the loss is below
5 % of where it began. Losses that are zero or negative have no logarithm and are not judged; the first 30 steps are
used to learn the noise. Losses of eval steps are not judged.)";
  description.source =
      "ZClip (z-score on exponential averages, decay 0.97); transient and lasting as reported for PaLM and BLOOM";
  description.by_default = true;
  description.in_process = true;
  description.consequences = {"Divergence", "LossNotDecreasing", "LossDrift", "Overtraining"};
  return {std::move(description), loss_spike_rule::create};
}

}  // namespace trainwarden::rules
