// Which class was taken for which, counted from labels and predictions, and what follows for each class.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainwarden/mode.h"
#include "trainwarden/status.h"
#include "trainwarden/trial.h"

namespace trainwarden::views {

// A tensor that may be what is looked for, and why.
struct GuessedTensor {
  std::string name;
  std::string reason;
};

// Which tensors hold labels and which predictions. The first of each list fits the other; both lists are empty when
// nothing fits.
struct ConfusionGuess {
  std::vector<GuessedTensor> labels;
  std::vector<GuessedTensor> predictions;
};
ConfusionGuess guess_confusion(const Trial& trial);

// Global steps that hold both tensors whole; of one mode when it is train, eval or predict.
std::vector<std::int64_t> confusion_steps(const Trial& trial, const std::string& labels, const std::string& predictions,
                                          std::optional<Mode> mode = {});

// A part of a whole, and the interval in which it lies with 95 % confidence. Source: Wilson (1927), "Probable
// inference, the law of succession, and statistical inference". NaN and [0, 1] when there is nothing to count.
struct Part {
  double value = 0;
  double low = 0;
  double high = 1;
};
Part wilson_part(double hits, double of);

struct ClassNumbers {
  double actual = 0;     // samples that are of the class
  double predicted = 0;  // samples that were taken for it
  double hits = 0;       // both
  Part precision;
  Part recall;
  double f1 = 0;  // NaN when the class neither occurs nor is predicted
};

struct ConfusionRange {
  std::int64_t from = 0;  // global steps, both inclusive
  std::int64_t to = 0;
  std::optional<Mode> mode{};
};

struct ConfusionLimits {
  std::size_t classes = 200;
  std::uint64_t steps = 2'000;
  std::chrono::milliseconds time{3'000};
};

struct Confusion {
  static constexpr std::int64_t kOther = INT64_MIN;  // stands for all classes that have no row of their own

  std::vector<std::int64_t> classes;  // rising; kOther last, when there is one
  std::vector<double> counts;         // of actual class i taken for j: counts[i * classes.size() + j]
  std::vector<ClassNumbers> numbers;  // of each class
  std::uint64_t folded_classes = 0;   // those in kOther
  double samples = 0;
  Part accuracy;  // hits within kOther do not count as such

  std::uint64_t counted_steps = 0;
  std::uint64_t steps = 0;       // in the range
  std::int64_t first_step = -1;  // that was counted
  std::int64_t last_step = -1;
  std::uint64_t unfit_steps = 0;  // that hold both, but do not fit each other
  std::string first_problem;      // with those
};

// The newest steps of the range first, as many as the limits allow. kNotFound when the range has no step with both,
// kInvalidArgument when at none of them predictions fit labels.
Result<Confusion> count_confusion(Trial& trial, const std::string& labels, const std::string& predictions,
                                  const ConfusionRange& range, const ConfusionLimits& limits = {});

// What the classes 0, 1, 2, ... are called: from the run's label "classes" or "class_names" (separated by commas), or
// from a tensor of strings of such a name. Empty when nothing says so.
struct ClassNames {
  std::vector<std::string> names;
  std::string source;  // for people: "label classes of the run"
};
ClassNames class_names(Trial& trial);

}  // namespace trainwarden::views
