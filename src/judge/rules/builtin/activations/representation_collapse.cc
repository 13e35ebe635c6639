// RepresentationCollapse: a model that gives nearly the same for every input.
//
// Source: rank collapse of representations, by the mean cosine between the rows of a batch (the project's notes on the
// literature); start_step and patience are ours: before it has learned, a network maps most inputs to nearly the same
// direction. It fires when the mean cosine is above a threshold for `patience` captured steps in a row, from start_step
// of the mode on.
//
// State: a counter for each tensor.
#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/activations/activations_rules.h"
#include "judge/rules/builtin/activations/row_measures.h"
#include "judge/rules/builtin/tensors/selection_parameters.h"
#include "judge/rules/needs.h"
#include "judge/rules/parameters.h"
#include "judge/rules/step_statistics.h"

namespace trainwarden::rules {
namespace representation_collapse_rule {
namespace {

constexpr std::int64_t kMostSteps = 1'000'000'000;
constexpr std::int64_t kLeastRows = 8;
constexpr std::int64_t kLeastWidth = 8;  // in few dimensions directions are alike by chance
constexpr double kConfidence = 0.8;      // outputs may be alike because they should be
constexpr const char* kAdvice =
    "Compare what the model gives for two different inputs, layer by layer, to find where they become the same; look "
    "for inputs that do not reach it, a learning rate that is too high, or an objective that a constant answers.";

class RepresentationCollapse final : public Rule {
 public:
  RepresentationCollapse(TensorSelection selection, double threshold, std::int64_t start_step, std::int64_t patience)
      : selection_(std::move(selection)), threshold_(threshold), start_step_(start_step), patience_(patience) {}

  Verdict evaluate(const StepWindow& window) override {
    if (window.mode_step() < start_step_) {
      return Verdict::not_applicable(fmt::format("steps from {} on are judged", start_step_));
    }
    std::size_t judged = 0;
    std::vector<Evidence> collapsed;
    const JudgingGaps gaps = visit_tensors(selection_, window, [&](const TensorSpot& spot) -> Status {
      TRAINWARDEN_ASSIGN_OR_RETURN(const double cosine, cosine_of(spot, window));
      ++judged;
      std::int64_t& steps = steps_alike_[{spot.tensor, spot.worker}];
      steps = cosine > threshold_ ? steps + 1 : 0;
      if (steps < patience_) return {};
      collapsed.push_back({spot.tensor, spot.shown_worker, "mean_cosine", cosine, threshold_, window.global_step()});
      return {};
    });
    if (judged == 0) return nothing_to_judge(gaps, "batch of outputs", window);
    if (collapsed.empty()) return Verdict::ok();
    std::stable_sort(collapsed.begin(), collapsed.end(),
                     [](const auto& a, const auto& b) { return a.value > b.value; });
    Verdict verdict = fired(message(collapsed, judged, window), kAdvice, collapsed);
    verdict.confidence = kConfidence;
    return verdict;
  }

  std::vector<Collection> needs() const override {
    return needs_of(selection_, "representation_collapse", KeepForm::whole(), kValueInterval);
  }

 private:
  static Result<double> cosine_of(const TensorSpot& spot, const StepWindow& window) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const SharedTensorValue value, window.value(spot));
    TRAINWARDEN_ASSIGN_OR_RETURN(const RowMeasure cosine, mean_cosine(value.view));
    const std::int64_t width = value.view.element_count() / value.view.shape[0];
    if (cosine.rows >= kLeastRows && width >= kLeastWidth) return cosine.value;
    return Status(Code::kOutOfRange, fmt::format("\"{}\" has {} rows of {} elements; at least {} of {} are needed",
                                                 spot.tensor, cosine.rows, width, kLeastRows, kLeastWidth));
  }

  std::string message(const std::vector<Evidence>& collapsed, std::size_t judged, const StepWindow& window) const {
    return fmt::format(
        "{} of {} outputs have been nearly the same for every input for {} captured steps, up to {}: the mean cosine "
        "between the rows of \"{}\" is {:.4g}, up to {:g} is fine.",
        collapsed.size(), judged, patience_, describe_step(window), collapsed.front().tensor, collapsed.front().value,
        threshold_);
  }

  const TensorSelection selection_;
  const double threshold_;
  const std::int64_t start_step_;
  const std::int64_t patience_;
  std::map<std::pair<std::string, std::string>, std::int64_t> steps_alike_;  // by tensor and worker
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  TensorSelection selection = read_selection(read);
  const double threshold = read.number("threshold", -1, 1);
  const std::int64_t start_step = read.integer("start_step", 0, kMostSteps);
  const std::int64_t patience = read.integer("patience", 1, kMostSteps);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  TRAINWARDEN_RETURN_IF_ERROR(check_chosen(selection, "predictions"));
  return std::unique_ptr<Rule>(new RepresentationCollapse(std::move(selection), threshold, start_step, patience));
}

}  // namespace
}  // namespace representation_collapse_rule

RuleKind representation_collapse() {
  return {
      {.name = "RepresentationCollapse",
       .summary = "Fires when a model gives nearly the same for every input of a batch.",
       .parameters = {{"collection_names", "predictions", "collections whose tensors are judged, separated by commas"},
                      {"tensor_regex", "", "patterns of tensors that are judged too"},
                      {"threshold", "0.95", "the highest mean cosine between two rows that is fine, from -1 to 1"},
                      {"start_step", "100", "the first step of the mode that is judged"},
                      {"patience", "2", "captured steps in a row for which it must be higher"}},
       .topic = "activations",
       .details =
           "Takes a tensor [batch, ...] as rows, one for each input, at most 256 of them, and fires when the mean "
           "cosine between two different rows is above `threshold` at `patience` captured steps in a row. The evidence "
           "is `mean_cosine`. Tensors with fewer than 8 rows or 8 elements a row are not judged. It needs values, "
           "which it asks for every 100 steps.\n\n"
           "It is not a default rule: outputs that share a large constant part (positive features, images with the "
           "same background, logits of classes of very different frequency) are alike and healthy. Choose the tensor "
           "whose rows should differ, such as an embedding. Its confidence is 0.8.",
       .source = "rank collapse literature; formula of the project's notes",
       .by_default = false,
       .in_process = false,
       .consequences = {"LossNotDecreasing", "DegeneratePredictions"}},
      representation_collapse_rule::create};
}

}  // namespace trainwarden::rules
