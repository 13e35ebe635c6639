// Labels and predictions as classes: which tensors they are, which belong together, and what class each element means.
//
// Labels are class numbers (whole numbers of any dtype) or a distribution over the classes for each sample (dimension 1
// of the tensor, or the last, sums to 1). Predictions are class numbers, or scores of which the highest is meant, or
// one score for each label that is 0 or 1. Labels of -100 are left out, as PyTorch does (ignore_index).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "judge/rules/step_statistics.h"
#include "trainwarden/collection.h"
#include "trainwarden/rule.h"

namespace trainwarden::rules {

inline constexpr const char* kLabels = "labels";            // the collections
inline constexpr const char* kPredictions = "predictions";  //
inline constexpr std::int64_t kPredictionInterval = 10;     // steps; labels are cheap enough for every step

inline constexpr std::int64_t kIgnoredLabel = -100;  // PyTorch's ignore_index

using Classes = std::vector<std::int64_t>;

// The tensors of the first selection; when the step holds none of them, those of the second.
struct TensorChoice {
  TensorSelection first;
  TensorSelection fallback;
};

// The tensors that the step holds, those of each worker together, in the order in which they came: x_2 before x_10.
Result<std::vector<TensorSpot>> choose(const TensorChoice& choice, const StepWindow& window);
TensorSelection tensor_named(const std::string& name);
// Whole values of both selections; `own` names the collection for patterns.
std::vector<Collection> needs_of(const TensorChoice& choice, std::string_view own, std::int64_t save_interval);

// The classes of labels. kInvalidArgument when they are none (measurements, texts).
Result<Classes> label_classes(const TensorView& labels);
// The predicted class for each label. `argmax`: the last dimension is scores, whatever the labels look like.
// kInvalidArgument when there is not one for each label.
Result<Classes> predicted_classes(const TensorView& predictions, const TensorView& labels, bool argmax);

// Labels with the predictions that were made for them, without those that are to be ignored.
struct LabelledClasses {
  TensorSpot labels;
  TensorSpot predictions;
  Classes actual;
  Classes predicted;  // as many
};

// All pairs of the step: on each worker the first labels with the first predictions, and so on. Both are read whole.
struct StepPairs {
  std::vector<LabelledClasses> pairs;
  JudgingGaps gaps;
};
StepPairs read_pairs(const TensorChoice& labels, const TensorChoice& predictions, bool argmax,
                     const StepWindow& window);

// Takes the outcome of reading one tensor into the gaps.
void note_gap(const Status& status, JudgingGaps& gaps);

}  // namespace trainwarden::rules
