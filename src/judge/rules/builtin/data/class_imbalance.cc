// ClassImbalance: some class has far more labels than another, or is mostly predicted wrongly.
//
// Source: the documented rule of SageMaker Debugger. Labels are counted over the steps; once there are `samples` of
// them it fires when the largest class has more than threshold_imbalance times the labels of the smallest, or when of a
// class more than the part threshold_misprediction was predicted wrongly.
//
// Ours where the documentation is silent: classes without a label are not "the smallest"; after `samples` labels were
// judged the count begins again; the steps of each mode are counted by themselves; labels are counted at every step
// that has them, predictions at those that have both, so each has a count of its own. When the patterns match nothing,
// the collections `labels` and `predictions` are taken, which PyTorch's loss modules fill. State: one count for each
// class and mode, at most kMostClasses of them.
#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/data/class_labels.h"
#include "judge/rules/builtin/data/data_rules.h"
#include "judge/rules/parameters.h"

namespace trainwarden::rules {
namespace class_imbalance_rule {
namespace {

constexpr std::int64_t kMostSamples = 1'000'000'000;
constexpr std::size_t kMostClasses = 100'000;
constexpr const char* kImbalanceAdvice =
    "Weigh the classes in the loss, or sample the rare ones more often, and see whether their recall rises.";
constexpr const char* kMispredictionAdvice =
    "Look at samples of this class and at their labels; when they are right, weigh the class in the loss and see "
    "whether its recall rises.";

struct Limits {
  double imbalance = 0;
  double misprediction = 0;
  std::int64_t samples = 0;
};

struct ClassCount {
  std::int64_t labels = 0;
  std::int64_t wrong = 0;
};

// Labels of each class since the last judgement.
struct Window {
  std::map<std::int64_t, ClassCount> classes;
  std::int64_t total = 0;
  std::string tensor;  // the last that was counted
  std::string worker;

  void add(std::int64_t actual, bool is_wrong) {
    ClassCount& count = classes[actual];
    ++count.labels;
    count.wrong += is_wrong ? 1 : 0;
    ++total;
  }
};

class ClassImbalance final : public Rule {
 public:
  ClassImbalance(TensorChoice labels, TensorChoice predictions, const Limits& limits, bool argmax)
      : labels_(std::move(labels)), predictions_(std::move(predictions)), limits_(limits), argmax_(argmax) {}

  Verdict evaluate(const StepWindow& window) override {
    Windows& windows = windows_[index_of(window.mode())];
    const JudgingGaps gaps = count_labels(window, windows.labels);
    if (windows.labels.classes.size() > kMostClasses) return too_many_classes(windows.labels);
    count_pairs(window, windows.pairs);
    if (!has_new_) return nothing_to_judge(gaps, "label of a class", window);
    std::vector<Evidence> found;
    const bool labels_judged = judge_balance(windows.labels, window, found);
    const bool pairs_judged = judge_predictions(windows.pairs, window, found);
    if (!found.empty()) return verdict(std::move(found), window);
    if (labels_judged || pairs_judged) return Verdict::ok();
    return Verdict::insufficient_data(
        fmt::format("{} of {} labels were seen by {}", windows.labels.total, limits_.samples, describe_step(window)));
  }

  std::vector<Collection> needs() const override {
    std::vector<Collection> needs = needs_of(labels_, "class_imbalance_labels", 1);
    const auto more = needs_of(predictions_, "class_imbalance_predictions", kPredictionInterval);
    needs.insert(needs.end(), more.begin(), more.end());
    return needs;
  }

 private:
  struct Windows {
    Window labels;
    Window pairs;
  };

  JudgingGaps count_labels(const StepWindow& window, Window& counted) {
    has_new_ = false;
    JudgingGaps gaps;
    const auto spots = choose(labels_, window);
    note_gap(spots.status(), gaps);
    if (!spots.ok()) return gaps;
    for (const TensorSpot& spot : *spots) {
      const auto value = window.value(spot);
      const auto classes = value.ok() ? label_classes(value->view) : Result<Classes>(value.status());
      note_gap(classes.status(), gaps);
      if (!classes.ok() || classes->empty()) continue;
      for (const std::int64_t actual : *classes) {
        if (actual != kIgnoredLabel) counted.add(actual, false);
      }
      counted.tensor = spot.tensor;
      counted.worker = spot.shown_worker;
      has_new_ = true;
    }
    return gaps;
  }

  void count_pairs(const StepWindow& window, Window& counted) const {
    const StepPairs read = read_pairs(labels_, predictions_, argmax_, window);
    for (const LabelledClasses& pair : read.pairs) {
      for (std::size_t i = 0; i < pair.actual.size(); ++i) {
        counted.add(pair.actual[i], pair.actual[i] != pair.predicted[i]);
      }
      counted.tensor = pair.predictions.tensor;
      counted.worker = pair.predictions.shown_worker;
    }
  }

  static Verdict too_many_classes(Window& labels) {
    labels = {};
    return Verdict::not_applicable(
        fmt::format("the labels have more than {} different values, which are no classes", kMostClasses));
  }

  // True when there were enough labels. Begins again then.
  bool judge_balance(Window& counted, const StepWindow& window, std::vector<Evidence>& found) const {
    if (counted.total < limits_.samples) return false;
    const auto by_count = [](const auto& a, const auto& b) { return a.second.labels < b.second.labels; };
    const auto [smallest, largest] = std::minmax_element(counted.classes.begin(), counted.classes.end(), by_count);
    const double ratio = static_cast<double>(largest->second.labels) / static_cast<double>(smallest->second.labels);
    if (ratio > limits_.imbalance) {
      found.push_back({counted.tensor, counted.worker,
                       fmt::format("labels_of_class_{}_per_label_of_class_{}", largest->first, smallest->first), ratio,
                       limits_.imbalance, window.global_step()});
    }
    counted = {};
    return true;
  }

  bool judge_predictions(Window& counted, const StepWindow& window, std::vector<Evidence>& found) const {
    if (counted.total < limits_.samples) return false;
    const std::size_t first = found.size();
    for (const auto& [number, count] : counted.classes) {
      const double wrong = static_cast<double>(count.wrong) / static_cast<double>(count.labels);
      if (!(wrong > limits_.misprediction)) continue;
      found.push_back({counted.tensor, counted.worker, fmt::format("mispredicted_part_of_class_{}", number), wrong,
                       limits_.misprediction, window.global_step()});
    }
    std::stable_sort(found.begin() + static_cast<std::ptrdiff_t>(first), found.end(),
                     [](const Evidence& a, const Evidence& b) { return a.value > b.value; });
    counted = {};
    return true;
  }

  Verdict verdict(std::vector<Evidence> found, const StepWindow& window) const {
    const Evidence& worst = found.front();
    const bool is_imbalance = worst.quantity.starts_with("labels_of");
    std::string text =
        is_imbalance
            ? fmt::format(
                  "The classes in \"{}\" are out of balance by {}: the largest has {:.3g} times the labels of "
                  "the smallest; {:g} times are put up with.",
                  worst.tensor, describe_step(window), worst.value, worst.threshold)
            : fmt::format("{:.3g} % of a class are predicted wrongly in \"{}\" by {} ({}); {:g} % are put up with.",
                          100 * worst.value, worst.tensor, describe_step(window), worst.quantity,
                          100 * worst.threshold);
    return fired(std::move(text), is_imbalance ? kImbalanceAdvice : kMispredictionAdvice, std::move(found));
  }

  const TensorChoice labels_;
  const TensorChoice predictions_;
  const Limits limits_;
  const bool argmax_;
  std::array<Windows, 4> windows_;  // at index_of(mode)
  bool has_new_ = false;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  Limits limits;
  limits.imbalance = read.number("threshold_imbalance", 1);
  limits.misprediction = read.number("threshold_misprediction", 0, 1);
  limits.samples = read.integer("samples", 1, kMostSamples);
  const bool argmax = read.boolean("argmax");
  TensorChoice labels;
  labels.first.patterns = read.patterns("labels_regex");
  labels.fallback.collections = {kLabels};
  TensorChoice predictions;
  predictions.first.patterns = read.patterns("predictions_regex");
  predictions.fallback.collections = {kPredictions};
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new ClassImbalance(std::move(labels), std::move(predictions), limits, argmax));
}

constexpr const char* kDetails =
    R"(Counts labels over the steps, those of each mode by themselves. Once
`samples` labels were counted, it fires when the class with the most labels has more than `threshold_imbalance`
times as many as the class with the fewest, or when more than the part `threshold_misprediction` of a class was
predicted wrongly; then it counts anew. A class without any label is not seen, and not counted as empty. Labels of
-100 are left out.

Needs labels and predictions as values: class numbers, scores of which the highest is taken, or one score for each label
that is 0 or 1. When no tensor matches the patterns, those of the collections `labels` and `predictions` are taken.
Labels that are no whole numbers, as in a regression, are not judged.

Not among the default rules: many data sets are out of balance by nature, and any model mispredicts in its first steps.
Evidence: `labels_of_class_A_per_label_of_class_B`, `mispredicted_part_of_class_A`.)";

}  // namespace
}  // namespace class_imbalance_rule

RuleKind class_imbalance() {
  RuleDescription description;
  description.name = "ClassImbalance";
  description.summary =
      "Fires when a class has far more labels than another, or when most samples of a class are predicted wrongly.";
  description.parameters = {
      {"threshold_imbalance", "10", "labels of the largest class for each of the smallest that are put up with"},
      {"threshold_misprediction", "0.7", "part of a class, from 0 to 1, that may be predicted wrongly"},
      {"samples", "500", "labels that are counted before they are judged"},
      {"argmax", "False",
       "True: the last dimension of the predictions is scores, of which the highest is taken; False: that is so when "
       "they have one dimension more than the labels"},
      {"labels_regex", ".*labels", "patterns of the tensors with labels; when none matches: the collection labels"},
      {"predictions_regex", ".*predictions",
       "patterns of the tensors with predictions; when none matches: the collection predictions"}};
  description.topic = "data";
  description.details = class_imbalance_rule::kDetails;
  description.source = "SageMaker Debugger's documentation";
  return {std::move(description), class_imbalance_rule::create};
}

}  // namespace trainwarden::rules
