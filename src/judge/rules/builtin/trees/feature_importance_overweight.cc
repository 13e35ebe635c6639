// FeatureImportanceOverweight: a few features carry almost all of a boosted model.
//
// Source: the documented rule of SageMaker Debugger: the nfeatures largest importances add up to more than threshold.
// Ours: the importances are divided by their sum, in case they are not parts of a whole; a model with no more than
// nfeatures features is not judged, since they add up to 1 by nature, nor is one in its first rounds, whose few trees
// have few splits; workers are judged by themselves; what is not finite or negative is no importance and left out. No
// state.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/trees/trees_rules.h"
#include "judge/rules/needs.h"
#include "judge/rules/parameters.h"
#include "judge/rules/step_statistics.h"

namespace trainwarden::rules {
namespace feature_importance_overweight_rule {
namespace {

constexpr std::int64_t kMostFeatures = 1'000'000'000;
constexpr std::int64_t kMostRounds = 1'000'000'000;
constexpr const char* kAdvice =
    "See whether the features at the top give away the label (a leak), train without them, and compare the validation "
    "error.";

using Importances = std::vector<TensorReduction>;

class FeatureImportanceOverweight final : public Rule {
 public:
  FeatureImportanceOverweight(TensorSelection selection, double threshold, std::size_t features,
                              std::int64_t first_rounds)
      : selection_(std::move(selection)), threshold_(threshold), features_(features), first_rounds_(first_rounds) {}

  Verdict evaluate(const StepWindow& window) override {
    StepReductions read = read_reductions(selection_, Reduction::kMean, false, window);
    std::map<std::string, Importances> workers;
    for (TensorReduction& importance : read.tensors) {
      if (!(importance.value >= 0) || std::isinf(importance.value)) continue;
      workers[importance.spot.worker].push_back(std::move(importance));
    }
    if (workers.empty()) return nothing_to_judge(read.gaps, "feature importance", window);
    if (window.mode_step() < first_rounds_) {
      return Verdict::insufficient_data(
          fmt::format("a model of no more than {} rounds may rest on few features by nature", first_rounds_));
    }
    bool judged = false;
    for (auto& [worker, importances] : workers) {
      if (importances.size() <= features_) continue;
      judged = true;
      Verdict verdict = judge(importances, window);
      if (verdict.outcome == Outcome::kFired) return verdict;
    }
    if (judged) return Verdict::ok();
    return Verdict::not_applicable(
        fmt::format("the model has no more than {} features at {}, which carry all of it by nature", features_,
                    describe_step(window)));
  }

  std::vector<Collection> needs() const override {
    return needs_of(selection_, "feature_importance_overweight", KeepForm::whole(), kValueInterval);
  }

 private:
  Verdict judge(Importances& importances, const StepWindow& window) const {
    std::stable_sort(importances.begin(), importances.end(),
                     [](const TensorReduction& a, const TensorReduction& b) { return a.value > b.value; });
    const auto add = [](double sum, const TensorReduction& importance) { return sum + importance.value; };
    const double all = std::accumulate(importances.begin(), importances.end(), 0.0, add);
    const auto end = importances.begin() + static_cast<std::ptrdiff_t>(features_);
    const double part = all > 0 ? std::accumulate(importances.begin(), end, 0.0, add) / all : 0;
    if (!(part > threshold_)) return Verdict::ok();
    std::vector<Evidence> evidence;
    for (auto importance = importances.begin(); importance != end; ++importance) {
      if (evidence.size() == Verdict::kMaxEvidence) break;
      evidence.push_back({importance->spot.tensor, importance->spot.shown_worker, "importance_part",
                          importance->value / all, threshold_, window.global_step()});
    }
    const Evidence& first = evidence.front();
    std::string text =
        fmt::format("{} of {} features carry {:.3g} of the model at {}, led by \"{}\" with {:.3g}; the limit is {:g}.",
                    features_, importances.size(), part, describe_step(window), first.tensor, first.value, threshold_);
    return fired(std::move(text), kAdvice, std::move(evidence));
  }

  const TensorSelection selection_;
  const double threshold_;
  const std::size_t features_;
  const std::int64_t first_rounds_;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  const double threshold = read.number("threshold", 0, 1);
  const std::int64_t features = read.integer("nfeatures", 1, kMostFeatures);
  const std::int64_t rounds = read.integer("first_rounds", 0, kMostRounds);
  TensorSelection selection;
  selection.patterns = read.patterns("tensor_regex");
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  if (selection.patterns.empty()) {
    return Status(Code::kInvalidArgument, "parameter tensor_regex: expected at least one pattern, found none");
  }
  return std::unique_ptr<Rule>(
      new FeatureImportanceOverweight(std::move(selection), threshold, static_cast<std::size_t>(features), rounds));
}

constexpr const char* kDetails = R"(Adds up the `nfeatures` largest importances of the step, each divided by the sum of
all, and fires when they make up more than `threshold`. A model with no more than `nfeatures` features is not judged,
nor is one in its first rounds (steps of the mode): a tree with three splits rests on three features at most.

Needs one number for each feature, as smdebug's hook for XGBoost writes them: `feature_importance/weight/<feature>`.
Another kind of importance is chosen by `tensor_regex`: `.*feature_importance/gain`. Not among the default rules: a
model may rightly rest on a few features. Evidence: `importance_part` of each of them.)";

}  // namespace
}  // namespace feature_importance_overweight_rule

RuleKind feature_importance_overweight() {
  RuleDescription description;
  description.name = "FeatureImportanceOverweight";
  description.summary = "Fires when a few features carry almost all of a boosted model.";
  description.parameters = {
      {"threshold", "0.8", "the largest part, from 0 to 1, that the most important features may have"},
      {"nfeatures", "3", "how many of the most important features are added up"},
      {"first_rounds", "10", "how many rounds at the beginning are not judged"},
      {"tensor_regex", ".*feature_importance/weight", "patterns of the importances, one tensor for each feature"}};
  description.topic = "trees";
  description.details = feature_importance_overweight_rule::kDetails;
  description.source = "SageMaker Debugger's documentation";
  return {std::move(description), feature_importance_overweight_rule::create};
}

}  // namespace trainwarden::rules
