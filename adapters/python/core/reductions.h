// Single reductions as Python has them: (reduction, abs, value).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <nanobind/nanobind.h>

#include "trainwarden/reduction.h"

namespace trainwarden::python {

using ReductionTuple = std::tuple<std::string, bool, double>;

// ValueError for another word.
inline Reduction reduction_of(std::string_view name) {
  const auto reduction = parse_reduction(name);
  if (!reduction) throw nanobind::value_error("expected min, max, mean, std, variance, sum, l1, l2 or prod");
  return *reduction;
}

inline std::vector<SavedReduction> reductions_of(std::span<const ReductionTuple> tuples) {
  std::vector<SavedReduction> reductions;
  for (const auto& [name, abs, value] : tuples) reductions.push_back({reduction_of(name), abs, value});
  return reductions;
}

inline std::vector<ReductionTuple> tuples_of(std::span<const SavedReduction> reductions) {
  std::vector<ReductionTuple> tuples;
  for (const SavedReduction& saved : reductions) {
    tuples.emplace_back(name(saved.reduction), saved.abs, saved.value);
  }
  return tuples;
}

}  // namespace trainwarden::python
