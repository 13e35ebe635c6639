// DegeneratePredictions: a model that says the same whatever it is shown.
//
// Source: the model that predicts one class only, from the lists of common faults (spec of the diagnosis research, 35).
// Two ways of it, both ours:
//   same output: the predictions of all samples of a batch are equal, to kSameTolerance, while their labels differ.
//   Dead units do that; a healthy model, however untrained, lets its input through; collapse: a classifier that told
//   classes apart predicts one of them only, for `collapse_patience` judged steps in which the loss did not fall
//   either, while no class has more than kMostLabelShare of the labels. A model that predicts one class from the start
//   may just not have learned yet, and does not fire; so may one whose loss falls.
// Judged are predictions with at least kLeastSamples samples at steps that hold them whole; classes only where there is
// one label for each sample: a language model rightly begins with the commonest token.
// State: for each predictions tensor of each worker a few counts and two sums of losses.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/data/class_labels.h"
#include "judge/rules/builtin/data/collapse_watch.h"
#include "judge/rules/builtin/data/data_rules.h"
#include "judge/rules/builtin/data/samples.h"
#include "judge/rules/needs.h"
#include "judge/rules/parameters.h"
#include "judge/rules/tensor_elements.h"

namespace trainwarden::rules {
namespace degenerate_predictions_rule {
namespace {

constexpr std::int64_t kMostSteps = 1'000'000;
constexpr std::int64_t kLeastSamples = 8;
constexpr double kSameTolerance = 1e-6;  // relative to the largest output: rounding
constexpr double kCollapseConfidence = 0.8;
constexpr const char* kSameAdvice =
    "Find the first layer whose output is the same for all samples (its ReLUs are dead or its units saturated); start "
    "again with a lower learning rate or another initialisation.";
constexpr const char* kCollapseAdvice =
    "Go back to a checkpoint before the collapse and train on with a tenth of the learning rate, and see that several "
    "classes stay in the predictions.";

using Key = std::pair<std::string, std::string>;  // predictions tensor, worker

// Do all samples, of dimension 0, have the same output? The largest difference, relative to the largest output; NaN
// when any is not finite.
double relative_spread(const TensorView& predictions) {
  const std::vector<double> numbers = components_of(predictions);
  const auto width = numbers.size() / static_cast<std::size_t>(predictions.shape[0]);
  double spread = 0;
  double largest = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (!std::isfinite(numbers[i])) return NAN;
    spread = std::max(spread, std::abs(numbers[i] - numbers[i % width]));
    largest = std::max(largest, std::abs(numbers[i]));
  }
  return largest > 0 ? spread / largest : 0;
}

TensorSelection collection(const char* name) {
  TensorSelection selection;
  selection.collections = {name};
  return selection;
}

class DegeneratePredictions final : public Rule {
 public:
  DegeneratePredictions(std::int64_t patience, std::int64_t collapse_patience)
      : patience_(patience), collapse_patience_(collapse_patience) {}

  Verdict evaluate(const StepWindow& window) override {
    if (window.mode() != Mode::kTrain && window.mode() != Mode::kGlobal) {
      return Verdict::not_applicable(
          fmt::format("a {} step; only the predictions of training are judged", name(window.mode())));
    }
    std::vector<Evidence> same;
    std::size_t judged = 0;
    const JudgingGaps gaps = visit_tensors(collection(kPredictions), window, [&](const TensorSpot& spot) -> Status {
      TRAINWARDEN_ASSIGN_OR_RETURN(const SharedTensorValue value, window.value(spot));
      TRAINWARDEN_RETURN_IF_ERROR(check(spot, value.view));
      ++judged;
      if (labels_differ(spot.worker, window)) judge_output(spot, value.view, window, same);
      return Status();
    });
    if (judged == 0) return nothing_to_judge(gaps, "batch of predictions", window);
    if (!same.empty()) return same_output(std::move(same), window);
    return judge_classes(window);
  }

  std::vector<Collection> needs() const override {
    return {need_values(kPredictions, kPredictionInterval), need_values(kLabels, kPredictionInterval),
            need_statistics("losses"), need_signals(), need_batch_shapes(kPredictionInterval)};
  }

 private:
  static Status check(const TensorSpot& spot, const TensorView& predictions) {
    if (predictions.shape.rank() > 0 && predictions.shape[0] >= kLeastSamples && predictions.element_count() > 0 &&
        is_floating_point(predictions.dtype)) {
      return Status();
    }
    return Status(Code::kInvalidArgument, fmt::format("\"{}\" of shape {} holds no outputs for at least {} samples",
                                                      spot.tensor, predictions.shape.to_string(), kLeastSamples));
  }

  static bool labels_differ(const std::string& worker, const StepWindow& window) {
    bool differ = false;
    visit_tensors(collection(kLabels), window, [&](const TensorSpot& spot) -> Status {
      if (spot.worker != worker) return Status();
      TRAINWARDEN_ASSIGN_OR_RETURN(const Statistics* numbers, window.statistics(spot));
      differ = differ || numbers->min < numbers->max;
      return Status();
    });
    return differ;
  }

  void judge_output(const TensorSpot& spot, const TensorView& predictions, const StepWindow& window,
                    std::vector<Evidence>& same) {
    std::int64_t& steps = same_steps_[{spot.tensor, spot.worker}];
    const double spread = relative_spread(predictions);
    steps = spread <= kSameTolerance ? steps + 1 : 0;  // a NaN is not the same
    if (steps < patience_) return;
    same.push_back(
        {spot.tensor, spot.shown_worker, "spread_over_samples", spread, kSameTolerance, window.global_step()});
  }

  Verdict same_output(std::vector<Evidence> same, const StepWindow& window) const {
    const Evidence& first = same.front();
    std::string text = fmt::format(
        "The model gives every sample the same output: \"{}\" at {} spreads by {:.3g} of its largest number, for {} "
        "judged steps, although the labels differ.",
        first.tensor, describe_step(window), first.value, patience_);
    return fired(std::move(text), kSameAdvice, std::move(same), Severity::kError);
  }

  Verdict judge_classes(const StepWindow& window) {
    const auto loss = mean_loss(window);
    const StepPairs read = read_pairs({{}, collection(kLabels)}, {{}, collection(kPredictions)}, false, window);
    for (const LabelledClasses& pair : read.pairs) {
      const auto labels = static_cast<std::int64_t>(pair.actual.size());
      if (!loss || labels < kLeastSamples || labels > sample_count(pair.labels.worker, window).value_or(labels))
        continue;
      const auto place = collapses_.try_emplace({pair.predictions.tensor, pair.predictions.worker}, collapse_patience_);
      CollapseWatch& watch = place.first->second;
      watch.add(pair.actual, pair.predicted, *loss);
      if (watch.is_collapsed()) return collapse(pair.predictions, watch, window);
    }
    return Verdict::ok();
  }

  // Of all losses of the step; none when there is none, or one is not a number.
  static std::optional<double> mean_loss(const StepWindow& window) {
    const StepReductions losses = read_reductions(collection("losses"), Reduction::kMean, false, window);
    if (losses.tensors.empty()) return std::nullopt;
    double sum = 0;
    for (const TensorReduction& loss : losses.tensors) sum += loss.value;
    if (!std::isfinite(sum)) return std::nullopt;
    return sum / static_cast<double>(losses.tensors.size());
  }

  Verdict collapse(const TensorSpot& spot, const CollapseWatch& watch, const StepWindow& window) const {
    std::vector<Evidence> evidence = {
        {spot.tensor, spot.shown_worker, "share_of_predicted_class", watch.predicted_share(),
         CollapseWatch::kLeastPredictedShare, window.global_step()},
        {spot.tensor, spot.shown_worker, "loss_decrease", watch.loss_decrease(), CollapseWatch::kLeastDecrease,
         window.global_step()}};
    Verdict verdict =
        fired(fmt::format(
                  "The model predicts class {} only: for {} judged steps up to {} it has {:.3g} % of \"{}\", where it "
                  "told classes apart before, and the loss does not fall.",
                  watch.predicted_class(), collapse_patience_, describe_step(window), 100 * watch.predicted_share(),
                  spot.tensor),
              kCollapseAdvice, std::move(evidence));
    verdict.confidence = kCollapseConfidence;
    return verdict;
  }

  const std::int64_t patience_;
  const std::int64_t collapse_patience_;
  std::map<Key, std::int64_t> same_steps_;
  std::map<Key, CollapseWatch> collapses_;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  const std::int64_t patience = read.integer("patience", 1, kMostSteps);
  const std::int64_t collapse_patience = read.integer("collapse_patience", 2, kMostSteps);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new DegeneratePredictions(patience, collapse_patience));
}

constexpr const char* kDetails = R"(Fires in two cases, at training steps that hold predictions whole.

The same output: for `patience` such steps in a row all samples of the batch have the same predictions, to one
millionth, while their labels differ (evidence `spread_over_samples`). That is a model through which nothing comes
any more. It also judges regressions.

A collapse: a classifier that predicted several classes at three judged steps or more predicts one class for 99 % of
the samples, for `collapse_patience` judged steps in a row in which the loss fell by less than 1 %, while no class
has 60 % of the labels (evidence `share_of_predicted_class`, `loss_decrease`; confidence 0.8). A model that predicts
one class from the start does not fire: it may just not have learned yet.

Needs values of the collections `predictions` and `labels`, every tenth step, and statistics of `losses`. Batches of
fewer than 8 samples are not judged, and classes only where there is one label for each sample, not for tokens and
pixels.)";

}  // namespace
}  // namespace degenerate_predictions_rule

RuleKind degenerate_predictions() {
  RuleDescription description;
  description.name = "DegeneratePredictions";
  description.summary = "Fires when a model gives every sample the same output, or has come to predict one class only.";
  description.parameters = {
      {"patience", "5", "judged steps in a row with the same output for all samples"},
      {"collapse_patience", "20", "judged steps in a row with one predicted class and a loss that does not fall"}};
  description.topic = "data";
  description.details = degenerate_predictions_rule::kDetails;
  description.source = "ours";
  description.by_default = true;
  description.is_symptom = true;
  description.consequences = {"LossNotDecreasing"};
  return {std::move(description), degenerate_predictions_rule::create};
}

}  // namespace trainwarden::rules
