// Labelled texts parted for training, validation and test.
#pragma once

#include <cstdint>
#include <vector>

#include "classes/labelled_texts.h"

namespace bert {

enum class Balance {
  kNone,   // each class as often as it is
  kTrain,  // of what is trained on, each class as often as the rarest one
  kAll,    // of all three parts; scores are then of texts as nobody writes them
};

struct SplitOptions {
  double train = 0.9, validation = 0.05, test = 0.05;  // fractions, together 1
  Balance balance = Balance::kNone;
  std::uint64_t seed = 42;
};

struct Splits {
  std::vector<const LabelledText*> train, validation, test;  // in the order of `texts`
};

// Each class is parted by the same fractions (validation and test rounded to the nearest text, the rest is trained on),
// and what is left out to balance is drawn by the seed: the same on every machine. `texts` must live as long. Throws
// std::runtime_error for fractions that are negative or not 1 together, and where nothing is left to train on.
Splits split_texts(const std::vector<LabelledText>& texts, const SplitOptions& options);

}  // namespace bert
