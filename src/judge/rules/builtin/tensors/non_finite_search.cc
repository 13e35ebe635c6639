#include "judge/rules/builtin/tensors/non_finite_search.h"

#include <algorithm>
#include <cmath>

namespace trainwarden::rules {
namespace {

bool is_extreme(const SavedReduction& saved) {
  return saved.reduction == Reduction::kMin || saved.reduction == Reduction::kMax;
}

// NaN when, and only when, an element is NaN.
bool is_witness_of_nan(const SavedReduction& saved) {
  switch (saved.reduction) {
    case Reduction::kMin:
    case Reduction::kMax:
    case Reduction::kL1:
    case Reduction::kL2: return true;
    case Reduction::kMean:
    case Reduction::kSum: return saved.abs;
    default: return false;
  }
}

// Finite only when all elements are.
bool is_witness_of_all(const SavedReduction& saved) {
  return !is_extreme(saved) || (saved.abs && saved.reduction == Reduction::kMax);
}

bool has_extreme(std::span<const SavedReduction> saved, Reduction reduction) {
  return std::any_of(saved.begin(), saved.end(), [&](const SavedReduction& candidate) {
    return candidate.reduction == reduction && !candidate.abs;
  });
}

NonFiniteSearch search_nan(std::span<const SavedReduction> saved) {
  NonFiniteSearch search;
  for (const SavedReduction& candidate : saved) {
    if (!is_witness_of_nan(candidate)) continue;
    search.decided = true;
    if (std::isnan(candidate.value)) search.found = candidate;
  }
  return search;
}

}  // namespace

NonFiniteSearch search_non_finite(std::span<const SavedReduction> saved, bool only_nan) {
  if (only_nan) return search_nan(saved);
  const auto found =
      std::find_if(saved.begin(), saved.end(), [](const auto& one) { return !std::isfinite(one.value); });
  if (found != saved.end()) return {true, *found};
  const bool both_ends = has_extreme(saved, Reduction::kMin) && has_extreme(saved, Reduction::kMax);
  return {both_ends || std::any_of(saved.begin(), saved.end(), is_witness_of_all), std::nullopt};
}

std::string identifier(const SavedReduction& saved) {
  return (saved.abs ? "abs_" : "") + std::string(name(saved.reduction));
}

}  // namespace trainwarden::rules
