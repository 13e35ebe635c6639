// NonFiniteSearch: what single reductions say about NaN and infinities among the elements.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "trainwarden/reduction.h"

namespace trainwarden::rules {

struct NonFiniteSearch {
  bool decided = false;                 // these reductions say whether there is any
  std::optional<SavedReduction> found;  // the one that shows it
};

// The reductions as IEEE arithmetic gives them, with NaN in min and max when any element is NaN (as NumPy and PyTorch
// do). `only_nan`: infinities are not looked for; a mean, sum, product or spread is then no witness, since infinities
// make it NaN as well.
NonFiniteSearch search_non_finite(std::span<const SavedReduction> saved, bool only_nan);

std::string identifier(const SavedReduction& saved);  // "abs_mean"

}  // namespace trainwarden::rules
