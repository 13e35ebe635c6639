// Confusion: a class that is often taken for another.
//
// Source: the documented rule of SageMaker Debugger: conf[label][prediction] counts the samples of a step; it fires
// when a number on the diagonal is below min_diag or one beside it above max_off_diag. The documentation divides the
// diagonal by its own sum, conf[i][i] / Σ_j conf[j][j], so that a perfect matrix over ten classes would have 0.1
// everywhere and fire, which its own test says it must not. Here the diagonal is the recall, conf[i][i] / Σ_j
// conf[i][j], unless diagonal=share asks for the documented formula. The numbers beside it are conf[j][i] / Σ_j
// conf[j][i], as documented: which part of what was predicted as i is j.
//
// Ours: tensors are found by name first; when the step has none of that name, by collection. No state.
#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "judge/rules/builtin/data/class_labels.h"
#include "judge/rules/builtin/data/data_rules.h"
#include "judge/rules/parameters.h"

namespace trainwarden::rules {
namespace confusion_rule {
namespace {

constexpr std::int64_t kMostCategories = 1'000'000;
constexpr const char* kAdvice =
    "Look at samples of the class that is confused, with their labels; when the labels are right, train with more of "
    "them, and see whether its recall rises.";

enum class Diagonal { kRecall, kShare };

struct Limits {
  std::optional<std::int64_t> categories;
  double min_diag = 0;
  double max_off_diag = 0;
  Diagonal diagonal = Diagonal::kRecall;
};

// Counts by (label, prediction). Only what occurs is held.
struct Matrix {
  std::map<std::pair<std::int64_t, std::int64_t>, double> cells;
  std::map<std::int64_t, double> rows;     // by label
  std::map<std::int64_t, double> columns;  // by prediction
  double diagonal = 0;

  void add(std::int64_t actual, std::int64_t predicted) {
    ++cells[{actual, predicted}];
    ++rows[actual];
    ++columns[predicted];
    if (actual == predicted) ++diagonal;
  }
  double cell(std::int64_t actual, std::int64_t predicted) const {
    const auto found = cells.find({actual, predicted});
    return found == cells.end() ? 0 : found->second;
  }
};

class Confusion final : public Rule {
 public:
  Confusion(TensorChoice labels, TensorChoice predictions, const Limits& limits)
      : labels_(std::move(labels)), predictions_(std::move(predictions)), limits_(limits) {}

  Verdict evaluate(const StepWindow& window) override {
    const StepPairs read = read_pairs(labels_, predictions_, false, window);
    if (read.pairs.empty()) return nothing_to_judge(read.gaps, "label with its prediction", window);
    Matrix matrix;
    for (const LabelledClasses& pair : read.pairs) {
      for (std::size_t i = 0; i < pair.actual.size(); ++i) matrix.add(pair.actual[i], pair.predicted[i]);
    }
    const TensorSpot& shown = read.pairs.front().predictions;
    std::vector<Evidence> found = outside_categories(matrix, shown, window);
    if (found.empty()) {
      add_diagonal(matrix, shown, window, found);
      add_off_diagonal(matrix, shown, window, found);
    }
    if (found.empty()) return Verdict::ok();
    std::string text = message(found, window);
    return fired(std::move(text), kAdvice, std::move(found));
  }

  std::vector<Collection> needs() const override {
    std::vector<Collection> needs = needs_of(labels_, "confusion_labels", kPredictionInterval);
    const auto more = needs_of(predictions_, "confusion_predictions", kPredictionInterval);
    needs.insert(needs.end(), more.begin(), more.end());
    return needs;
  }

 private:
  // Classes that category_no says do not exist.
  std::vector<Evidence> outside_categories(const Matrix& matrix, const TensorSpot& shown,
                                           const StepWindow& window) const {
    std::vector<Evidence> found;
    if (!limits_.categories) return found;
    const auto check = [&](const std::map<std::int64_t, double>& counts, const char* quantity) {
      for (const auto& [number, count] : counts) {
        if (number >= 0 && number < *limits_.categories) continue;
        found.push_back({shown.tensor, shown.shown_worker, quantity, static_cast<double>(number),
                         static_cast<double>(*limits_.categories), window.global_step()});
      }
    };
    check(matrix.rows, "label_outside_category_no");
    check(matrix.columns, "prediction_outside_category_no");
    return found;
  }

  void add_diagonal(const Matrix& matrix, const TensorSpot& shown, const StepWindow& window,
                    std::vector<Evidence>& found) const {
    const std::size_t first = found.size();
    const bool is_recall = limits_.diagonal == Diagonal::kRecall;
    for (const auto& [actual, row] : matrix.rows) {
      const double sum = is_recall ? row : matrix.diagonal;
      const double part = sum > 0 ? matrix.cell(actual, actual) / sum : 0;
      if (part >= limits_.min_diag) continue;
      found.push_back({shown.tensor, shown.shown_worker,
                       fmt::format("{}_of_class_{}", is_recall ? "recall" : "share_of_diagonal", actual), part,
                       limits_.min_diag, window.global_step()});
    }
    std::stable_sort(found.begin() + static_cast<std::ptrdiff_t>(first), found.end(),
                     [](const Evidence& a, const Evidence& b) { return a.value < b.value; });
  }

  void add_off_diagonal(const Matrix& matrix, const TensorSpot& shown, const StepWindow& window,
                        std::vector<Evidence>& found) const {
    const std::size_t first = found.size();
    for (const auto& [place, count] : matrix.cells) {
      const auto& [actual, predicted] = place;
      if (actual == predicted) continue;
      const double part = count / matrix.columns.at(predicted);
      if (part <= limits_.max_off_diag) continue;
      found.push_back({shown.tensor, shown.shown_worker,
                       fmt::format("part_of_class_{}_in_predictions_of_{}", actual, predicted), part,
                       limits_.max_off_diag, window.global_step()});
    }
    std::stable_sort(found.begin() + static_cast<std::ptrdiff_t>(first), found.end(),
                     [](const Evidence& a, const Evidence& b) { return a.value > b.value; });
  }

  std::string message(const std::vector<Evidence>& found, const StepWindow& window) const {
    const Evidence& worst = found.front();
    if (worst.quantity.ends_with("category_no")) {
      return fmt::format("\"{}\" at {} goes with class {:g}, but category_no says that there are only {:g} classes.",
                         worst.tensor, describe_step(window), worst.value, worst.threshold);
    }
    return fmt::format("Classes are confused in \"{}\" at {}, in {} places: {} is {:.3g}, the limit is {:g}.",
                       worst.tensor, describe_step(window), found.size(), worst.quantity, worst.value, worst.threshold);
  }

  const TensorChoice labels_;
  const TensorChoice predictions_;
  const Limits limits_;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  Limits limits;
  const std::string& category_no = parameters.at("category_no");
  if (!category_no.empty() && category_no != "None")
    limits.categories = read.integer("category_no", 1, kMostCategories);
  limits.min_diag = read.number("min_diag", 0, 1);
  limits.max_off_diag = read.number("max_off_diag", 0, 1);
  const std::string& diagonal = parameters.at("diagonal");
  if (diagonal == "share") limits.diagonal = Diagonal::kShare;
  TensorChoice labels{tensor_named(parameters.at("labels")), {}};
  labels.fallback.collections = read.list("labels_collection");
  TensorChoice predictions{tensor_named(parameters.at("predictions")), {}};
  predictions.fallback.collections = read.list("predictions_collection");
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  if (diagonal != "recall" && diagonal != "share") {
    return Status(Code::kInvalidArgument,
                  fmt::format("parameter diagonal: expected recall or share, found \"{}\"", printable(diagonal)));
  }
  return std::unique_ptr<Rule>(new Confusion(std::move(labels), std::move(predictions), limits));
}

constexpr const char* kDetails = R"(Counts at each step how often a sample of class i was predicted as class j, over
all labels of the step on all workers. Fires when the recall of a class that occurs, conf[i][i] / sum of row i, is
below `min_diag`, or when of what was predicted as one class more than the part `max_off_diag` belongs to another
single class, conf[j][i] / sum of column i. SageMaker's documentation divides the diagonal by its own sum, which a
perfect model with ten classes would fail; `diagonal=share` asks for that.

Needs labels and predictions as values: class numbers, scores of which the highest is taken, or one score for each label
that is 0 or 1. Labels of -100 are left out. A class that does not occur at the step is not judged. `category_no` makes
classes past it a fault; without it any class is fine.

Not among the default rules: an untrained model confuses everything, and one mistake in a small batch is enough to fire.
Give it a run that is trained, or looser limits. Evidence: `recall_of_class_I` (or `share_of_diagonal_of_class_I`),
`part_of_class_J_in_predictions_of_I`.)";

}  // namespace
}  // namespace confusion_rule

RuleKind confusion() {
  RuleDescription description;
  description.name = "Confusion";
  description.summary = "Fires when a class is predicted too seldom as itself, or too often as another.";
  description.parameters = {
      {"category_no", "", "number of classes; nothing: those that occur"},
      {"labels", "labels", "name of the tensor with the labels"},
      {"predictions", "predictions", "name of the tensor with the predictions"},
      {"labels_collection", "labels", "collection of the labels when the step has no tensor of that name"},
      {"predictions_collection", "predictions",
       "collection of the predictions when the step has no tensor of that name"},
      {"min_diag", "0.9", "the least part, from 0 to 1, that the diagonal must have"},
      {"max_off_diag", "0.1", "the largest part, from 0 to 1, of the predictions of a class that may be another"},
      {"diagonal", "recall", "recall: the diagonal's part of its row; share: of the whole diagonal, as documented"}};
  description.topic = "data";
  description.details = confusion_rule::kDetails;
  description.source = "SageMaker Debugger's documentation; the recall is ours";
  return {std::move(description), confusion_rule::create};
}

}  // namespace trainwarden::rules
