#include "judge/rules/builtin/data/class_labels.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "judge/rules/needs.h"
#include "judge/rules/tensor_elements.h"

namespace trainwarden::rules {
namespace {

constexpr double kLargestClass = 1e15;  // a double tells whole numbers apart up to here
constexpr double kSumTolerance = 0.01;  // of a distribution, in whatever precision it was computed
constexpr double kEvenProbability = 0.5;

// "x_10" is ("x_", 10): tensors of one name come in the order of their numbers.
std::pair<std::string_view, std::int64_t> numbered(std::string_view name) {
  std::size_t digits = name.size();
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
  return {name.substr(0, digits), parse_int(name.substr(digits)).value_or(-1)};
}

bool comes_before(const TensorSpot& a, const TensorSpot& b) {
  return std::tuple(std::string_view(a.worker), numbered(a.tensor)) <
         std::tuple(std::string_view(b.worker), numbered(b.tensor));
}

// Dimension `axis` of a tensor: index = (outer · size + at) · inner + rest.
struct Axis {
  std::int64_t outer = 1;
  std::int64_t size = 1;
  std::int64_t inner = 1;
};

Axis axis_of(const Shape& shape, int axis) {
  Axis split;
  for (int i = 0; i < shape.rank(); ++i) {
    std::int64_t& part = i < axis ? split.outer : i == axis ? split.size : split.inner;
    part *= shape[i];
  }
  return split;
}

// The place of the highest along the axis. NaN is never the highest.
Classes highest(const TensorView& view, const Axis& axis) {
  const std::vector<double> numbers = components_of(view);
  Classes places;
  places.reserve(static_cast<std::size_t>(axis.outer * axis.inner));
  for (std::int64_t outer = 0; outer < axis.outer; ++outer) {
    for (std::int64_t inner = 0; inner < axis.inner; ++inner) {
      const auto at = [&](std::int64_t i) {
        return numbers[static_cast<std::size_t>((outer * axis.size + i) * axis.inner + inner)];
      };
      std::int64_t best = 0;
      for (std::int64_t i = 1; i < axis.size; ++i) {
        if (at(i) > at(best) || std::isnan(at(best))) best = i;
      }
      places.push_back(best);
    }
  }
  return places;
}

bool sums_to_one(const std::vector<double>& numbers, const Axis& axis) {
  for (std::int64_t outer = 0; outer < axis.outer; ++outer) {
    for (std::int64_t inner = 0; inner < axis.inner; ++inner) {
      double sum = 0;
      for (std::int64_t i = 0; i < axis.size; ++i) {
        const double value = numbers[static_cast<std::size_t>((outer * axis.size + i) * axis.inner + inner)];
        if (!(value >= 0)) return false;
        sum += value;
      }
      if (!(std::abs(sum - 1) <= kSumTolerance)) return false;
    }
  }
  return true;
}

// The axis along which labels are distributions over classes.
std::optional<Axis> distribution_axis(const TensorView& labels) {
  if (labels.shape.rank() < 2 || labels.element_count() == 0 || !is_floating_point(labels.dtype)) return std::nullopt;
  const std::vector<double> numbers = components_of(labels);
  for (const int dimension : {1, labels.shape.rank() - 1}) {
    const Axis axis = axis_of(labels.shape, dimension);
    if (axis.size > 1 && sums_to_one(numbers, axis)) return axis;
  }
  return std::nullopt;
}

Result<Classes> whole_numbers(const TensorView& view) {
  Classes classes;
  bool all_whole = !is_complex(view.dtype) && view.dtype != DType::kString;
  visit_components(view, 0, component_count(view), [&](double value) {
    if (!(std::abs(value) < kLargestClass) || value != std::floor(value)) {
      all_whole = false;
    } else {
      classes.push_back(static_cast<std::int64_t>(value));
    }
  });
  if (all_whole) return classes;
  return Status(Code::kInvalidArgument,
                fmt::format("expected class numbers, found {} numbers that are not whole", name(view.dtype)));
}

// One score for each label that is 0 or 1: probabilities when all lie in [0, 1], else logits.
Classes binary_classes(const TensorView& scores) {
  const std::vector<double> numbers = components_of(scores);
  const bool probabilities =
      std::all_of(numbers.begin(), numbers.end(), [](double value) { return value >= 0 && value <= 1; });
  const double limit = probabilities ? kEvenProbability : 0;
  Classes classes;
  classes.reserve(numbers.size());
  for (const double value : numbers) classes.push_back(value > limit ? 1 : 0);
  return classes;
}

bool are_binary(const TensorView& labels) {
  bool binary = true;
  visit_components(labels, 0, component_count(labels),
                   [&](double value) { binary = binary && (value == 0 || value == 1); });
  return binary;
}

// The scores' dimension: what the predictions have and the labels have not.
std::optional<Axis> score_axis(const Shape& predictions, const Shape& labels) {
  const std::int64_t wanted = labels.element_count();
  for (const int dimension : {1, predictions.rank() - 1}) {
    if (dimension < 1 || dimension >= predictions.rank()) continue;
    const Axis axis = axis_of(predictions, dimension);
    if (axis.size > 1 && axis.outer * axis.inner == wanted) return axis;
  }
  return std::nullopt;
}

Status drop_ignored(LabelledClasses& pair) {
  if (pair.actual.size() != pair.predicted.size()) {
    return Status(Code::kInvalidArgument,
                  fmt::format("\"{}\" has {} predictions for the {} labels of \"{}\"", pair.predictions.tensor,
                              pair.predicted.size(), pair.actual.size(), pair.labels.tensor));
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < pair.actual.size(); ++i) {
    if (pair.actual[i] == kIgnoredLabel) continue;
    pair.actual[kept] = pair.actual[i];
    pair.predicted[kept++] = pair.predicted[i];
  }
  pair.actual.resize(kept);
  pair.predicted.resize(kept);
  return Status();
}

Result<LabelledClasses> read_pair(const TensorSpot& labels, const TensorSpot& predictions, bool argmax,
                                  const StepWindow& window) {
  LabelledClasses pair{labels, predictions, {}, {}};
  TRAINWARDEN_ASSIGN_OR_RETURN(const SharedTensorValue actual, window.value(labels));
  TRAINWARDEN_ASSIGN_OR_RETURN(const SharedTensorValue predicted, window.value(predictions));
  TRAINWARDEN_ASSIGN_OR_RETURN(pair.actual, label_classes(actual.view));
  TRAINWARDEN_ASSIGN_OR_RETURN(pair.predicted, predicted_classes(predicted.view, actual.view, argmax));
  TRAINWARDEN_RETURN_IF_ERROR(drop_ignored(pair));
  return pair;
}

std::map<std::string, std::vector<TensorSpot>> by_worker(const std::vector<TensorSpot>& spots) {
  std::map<std::string, std::vector<TensorSpot>> workers;
  for (const TensorSpot& spot : spots) workers[spot.worker].push_back(spot);
  return workers;
}

}  // namespace

Result<std::vector<TensorSpot>> choose(const TensorChoice& choice, const StepWindow& window) {
  TRAINWARDEN_ASSIGN_OR_RETURN(auto selected, window.select(choice.first));
  if (selected.empty()) {
    TRAINWARDEN_ASSIGN_OR_RETURN(selected, window.select(choice.fallback));
  }
  std::vector<TensorSpot> spots(selected.begin(), selected.end());
  std::sort(spots.begin(), spots.end(), comes_before);
  return spots;
}

TensorSelection tensor_named(const std::string& name) {
  TensorSelection selection;
  if (!name.empty()) selection.patterns = {"^\\Q" + name + "\\E$"};
  return selection;
}

std::vector<Collection> needs_of(const TensorChoice& choice, std::string_view own, std::int64_t save_interval) {
  std::vector<Collection> needs = needs_of(choice.first, own, KeepForm::whole(), save_interval);
  std::vector<Collection> more = needs_of(choice.fallback, own, KeepForm::whole(), save_interval);
  needs.insert(needs.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  return needs;
}

Result<Classes> label_classes(const TensorView& labels) {
  if (const auto axis = distribution_axis(labels)) return highest(labels, *axis);
  return whole_numbers(labels);
}

Result<Classes> predicted_classes(const TensorView& predictions, const TensorView& labels, bool argmax) {
  const auto distributions = distribution_axis(labels);
  const std::int64_t wanted =
      distributions ? distributions->outer * distributions->inner : labels.shape.element_count();
  if (is_complex(predictions.dtype) || predictions.dtype == DType::kString) {
    return Status(Code::kInvalidArgument, fmt::format("expected predictions, found {}", name(predictions.dtype)));
  }
  if (argmax && predictions.shape.rank() > 0) {
    return highest(predictions, axis_of(predictions.shape, predictions.shape.rank() - 1));
  }
  if (predictions.element_count() == wanted) {
    auto classes = whole_numbers(predictions);
    if (classes.ok() || !are_binary(labels)) return classes;
    return binary_classes(predictions);
  }
  if (distributions && predictions.shape == labels.shape) return highest(predictions, *distributions);
  if (const auto axis = score_axis(predictions.shape, labels.shape)) return highest(predictions, *axis);
  return Status(Code::kInvalidArgument, fmt::format("expected a prediction or a row of scores for each of {} labels, "
                                                    "found predictions of shape {}",
                                                    wanted, predictions.shape.to_string()));
}

StepPairs read_pairs(const TensorChoice& labels, const TensorChoice& predictions, bool argmax,
                     const StepWindow& window) {
  StepPairs read;
  const auto all_labels = choose(labels, window);
  const auto all_predictions = choose(predictions, window);
  note_gap(all_labels.status(), read.gaps);
  note_gap(all_predictions.status(), read.gaps);
  if (!all_labels.ok() || !all_predictions.ok()) return read;
  auto predictions_of = by_worker(*all_predictions);
  for (const auto& [worker, spots] : by_worker(*all_labels)) {
    const std::vector<TensorSpot>& partners = predictions_of[worker];
    if (partners.empty()) continue;
    if (partners.size() != spots.size()) {
      note_gap(
          Status(Code::kInvalidArgument, fmt::format("{} tensors of labels and {} of predictions do not make pairs",
                                                     spots.size(), partners.size())),
          read.gaps);
      continue;
    }
    for (std::size_t i = 0; i < spots.size(); ++i) {
      auto pair = read_pair(spots[i], partners[i], argmax, window);
      note_gap(pair.status(), read.gaps);
      if (pair.ok() && !pair->actual.empty()) read.pairs.push_back(*std::move(pair));
    }
  }
  return read;
}

void note_gap(const Status& status, JudgingGaps& gaps) {
  if (status.ok()) return;
  const bool unfit = status.code() == Code::kOutOfRange || status.code() == Code::kInvalidArgument;
  Status& first = unfit ? gaps.first_unfit : gaps.first_damage;
  if (first.ok()) first = status;
}

}  // namespace trainwarden::rules
