// How far a step of an optimizer goes, as a share of the weights that it changes.
#pragma once

#include <cmath>
#include <cstddef>
#include <utility>

#include "judge/diagnosis/finding.h"

namespace trainwarden::diagnosis {

// An update whose square is too large for its numbers, of weights and gradients that are not: it is at least so many
// times as large as they are.
inline constexpr double kBeyondMeasure = 1e19;

// NaN where it is not known; never infinite.
inline double step_ratio(const Snapshot& snapshot, std::size_t i) {
  const double weight = snapshot.at("weight", i), update = snapshot.at("update", i),
               gradient = snapshot.at("gradient", i);
  if (!(weight > 1e-9) || !std::isfinite(weight)) return kUnknown;
  if (std::isfinite(update)) return update / weight;
  return std::isinf(update) && std::isfinite(gradient) ? kBeyondMeasure : kUnknown;
}

// Do steps with ordinary gradients leave nothing of the weights? What is no number after that is so because of them,
// whatever operation gives it first.
inline bool throws_weights_away(const Case& seen) {
  constexpr double kThrown = 10, kOrdinary = 30;
  for (const Snapshot& snapshot : seen.snapshots()) {
    Values ratios, gradients;
    for (std::size_t i = 0; i < seen.structure().parameters.size(); ++i) {
      const double ratio = seen.structure().parameters[i].optimizers.empty() ? kUnknown : step_ratio(snapshot, i);
      if (!std::isfinite(ratio)) continue;
      ratios.push_back(ratio);
      gradients.push_back(snapshot.at("gradient", i) / snapshot.at("weight", i));
    }
    if (ratios.empty() && snapshot.find("weight") != nullptr) return false;  // they are no numbers any more
    if (median(std::move(ratios)) > kThrown && median(std::move(gradients)) < kOrdinary) return true;
  }
  return false;
}

}  // namespace trainwarden::diagnosis
