// Symptoms: what a history shows, measured against a yardstick and not against a taste.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "judge/diagnosis/history.h"

namespace trainwarden::diagnosis {

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// How a loss went. Medians of stretches, so that single steps do not decide.
struct Course {
  std::size_t count = 0;
  double first = kUnknown;      // of the first looks
  double early = kUnknown;      // of the first tenth
  double best = kUnknown;       // the smallest running median
  double late = kUnknown;       // of the last fifth
  double noise = kUnknown;      // robust standard deviation from one look to the next, in the last half
  double roughness = kUnknown;  // noise as a share of what lies between the first and the best
  double trend = kUnknown;      // of the last half: the fall in units of its standard error; positive when it falls
  double spread = kUnknown;     // robust standard deviation over the last half
  std::int64_t best_step = -1;
  std::int64_t first_bad_step = -1;  // not finite, or far above where it began
  std::int64_t not_finite = 0;
  double peak = kUnknown;
};

struct Symptoms {
  Course train;
  // The loss of the best answer that does not look at the input, from the targets that were seen; and the loss that is
  // compared with it, early and late. Unknown for losses that have no such answer.
  double constant = kUnknown;
  double yardstick = kUnknown;  // the constant answer, also where nothing is known of what the loss has come to
  double compared_early = kUnknown, compared_late = kUnknown, compared_best = kUnknown;
  double part = kUnknown;   // of what backward() is called on is what the loss function gave: 1: all of it, -1: negated
  double skill = kUnknown;  // 1 - late / constant: 0 for no better than the constant answer
  double accuracy = kUnknown;  // of the last looks at train batches
  double majority = kUnknown;  // share of the most frequent label
  double chance = kUnknown;    // 1 / number of classes
  double classes = kUnknown;
  // Evaluation.
  std::size_t evaluations = 0;
  double eval_first = kUnknown, eval_best = kUnknown, eval_late = kUnknown;
  double eval_accuracy = kUnknown, eval_accuracy_best = kUnknown;
  std::int64_t eval_best_after = -1;

  bool is_seen_late = false;  // was the loss looked at when most of the steps were done?
  bool is_classifier = false;
  bool has_diverged = false;    // the loss is not finite, or far worse than at the beginning, at the end
  bool learns_nothing = false;  // it has had its chance, and is where it was, or where a constant answer is
  bool learns_slowly = false;   // it still falls steadily and has come but a small part of the way
  bool learns_well = false;
  bool is_no_measure =
      false;              // it goes up and down around 0, as the losses of policies do, and says nothing of learning
  bool is_rough = false;  // it jumps by much of what it has learned
  bool loses_what_it_learned = false;
  bool is_adversarial = false;  // several optimizers with a loss each, which need not fall
  std::int64_t steps = 0;
};

Symptoms symptoms_of(const TrainingHistory& history);

double median(Values values);  // NaN when empty; of the finite ones
// Of a quantity over the snapshots: the median of its element, of those snapshots that have it.
double median_of(const TrainingHistory& history, std::string_view name, std::size_t index = 0, std::size_t first = 0);

}  // namespace trainwarden::diagnosis
