// LossDrift: a loss that slowly creeps up again from the best that it had reached.
//
// Source: profiler specification, rule 41: CUSUM on the loss against its own baseline, for drifts of 0.1 to 0.25 of its
// noise a step (drift_detector.h has the formula). Ours: the size of what was lost; several optimizers or losses make
// it a note; while the learning rate is raised again to where it was the baseline is the loss of that time. State: a
// few numbers for each loss.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/losses/drift_detector.h"
#include "judge/rules/builtin/losses/losses_rules.h"
#include "judge/rules/builtin/losses/train_losses.h"
#include "judge/rules/needs.h"
#include "judge/rules/parameters.h"

namespace trainwarden::rules {
namespace loss_drift_rule {
namespace {

constexpr const char* kAdvice =
    "Compare the step at which the rise began with what changed there: learning rate, data, regularisation. Go back to "
    "a checkpoint from before and train on with a lower learning rate; if the loss then holds, that was the reason.";

class LossDrift final : public Rule {
 public:
  LossDrift(TensorSelection selection, const DriftLimits& limits) : selection_(std::move(selection)), limits_(limits) {}

  Verdict evaluate(const StepWindow& window) override {
    return judge_train_losses(selection_, facts_, window, [&](const StepReductions& losses) {
      restarts_.next_step(facts_);
      return judge(losses, window);
    });
  }

  std::vector<Collection> needs() const override {
    std::vector<Collection> needs = needs_of(selection_, "loss_drift", KeepForm::whole(), 1);
    needs.push_back(need_signals());
    return needs;
  }

 private:
  Verdict judge(const StepReductions& losses, const StepWindow& window) {
    bool is_judged = false;
    std::vector<Evidence> evidence;
    std::string text;
    for (const TensorReduction& loss : losses.tensors) {
      if (!std::isfinite(loss.value)) continue;
      DriftDetector& detector = detectors_.try_emplace(key_of(loss), limits_).first->second;
      if (restarts_.was_within(DriftDetector::kLeastPoints) || restarts_.is_raised_again()) detector.forget_drift();
      const DriftReading reading = detector.add(window.global_step(), loss.value);
      is_judged |= !reading.is_learning;
      if (!reading.is_drifting) continue;
      add_evidence(loss.spot, reading, window, evidence);
      if (text.empty()) text = message(loss.spot, reading, window);
    }
    if (!evidence.empty()) {
      // Of several losses one may rise while their sum falls, as where a model is to deceive a part of itself.
      const bool is_part = facts_.has_several_optimizers() || losses.tensors.size() > 1;
      return fired(std::move(text), kAdvice, std::move(evidence), is_part ? Severity::kInfo : Severity::kWarning);
    }
    if (is_judged) return Verdict::ok();
    return Verdict::insufficient_data(
        fmt::format("the noise of a loss is learned from {} finite losses", DriftDetector::kLearningPoints));
  }

  void add_evidence(const TensorSpot& spot, const DriftReading& reading, const StepWindow& window,
                    std::vector<Evidence>& evidence) const {
    evidence.push_back({spot.tensor, spot.shown_worker, "cusum", reading.cusum, limits_.limit, window.global_step()});
    evidence.push_back({spot.tensor, spot.shown_worker, "lost", reading.lost, limits_.lost, window.global_step()});
  }

  static std::string message(const TensorSpot& spot, const DriftReading& reading, const StepWindow& window) {
    return fmt::format(
        "The loss \"{}\" has crept up since step {}: its average is {:.3g} at {} after a best of {:.3g}, "
        "about {:.2g} of its noise a step; {:.0f} % of what was gained is lost.",
        spot.tensor, reading.first_step, reading.average, describe_step(window), reading.best, reading.slope,
        100 * reading.lost);
  }

  const TensorSelection selection_;
  const DriftLimits limits_;
  TrainingFacts facts_;
  RestartWatch restarts_;
  std::map<LossKey, DriftDetector> detectors_;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  TensorSelection selection;
  selection.collections = read.collections("collection_names");
  DriftLimits limits;
  limits.slack = read.number("slack", 0);
  limits.limit = read.number("limit", 0);
  limits.lost = read.number("lost", 0);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new LossDrift(std::move(selection), limits));
}

}  // namespace
}  // namespace loss_drift_rule

RuleKind loss_drift() {
  RuleDescription description;
  description.name = "LossDrift";
  description.summary = "Fires when a loss slowly creeps up from the best that it had reached.";
  description.parameters = {
      {"collection_names", "losses", "collections whose tensors are judged, separated by commas"},
      {"slack", "1.5", "how far above its best average a loss may be for nothing, in deviations of its noise"},
      {"limit", "30", "the sum of what is beyond that at which it fires, in deviations of its noise"},
      {"lost", "0.15", "part of what the loss had gained since the start that must be lost again"}};
  description.topic = "losses";
  description.details =
      R"(Sums how far the loss of each training step is above the best value of its own average, in units of its noise from
step to step, less a slack (CUSUM): noise cancels out and a slow rise adds up. Fires when that sum exceeds `limit`, the
rise has lasted for 30 losses and still goes on, and at least `lost` of what had been gained since the start is gone
again. It finds drifts of 0.1 to 0.25 of the noise a step, long before the loss is worse than ever. Evidence: `cusum` and
`lost`.

The first 50 losses are used to learn the noise. A loss that has risen before and come down again must rise half as much
again. With several optimizers, or several losses in a step, a drift is a note. A learning rate that returns
to a level it had before (warm restarts, cycles) starts the baseline anew. A loss that rises on purpose fires: where a curriculum
makes the task harder, or in reinforcement learning, whose loss grows with the returns; judge those with
`collection_names` of losses that should fall.)";
  description.source = "CUSUM (Page 1954) on the loss against its own baseline; the limits are ours";
  description.by_default = true;
  description.in_process = true;
  description.consequences = {"LossNotDecreasing", "Overtraining"};
  return {std::move(description), loss_drift_rule::create};
}

}  // namespace trainwarden::rules
