// For tests: gradients by differences.
#pragma once

#include "tune/search/gp/bounded_descent.h"

namespace trainwarden::tune {

inline Eigen::VectorXd gradient_by_differences(const SmoothFunction& function, const Eigen::VectorXd& at, double step) {
  Eigen::VectorXd gradient(at.size()), unused(at.size());
  for (Eigen::Index i = 0; i < at.size(); ++i) {
    Eigen::VectorXd low = at, high = at;
    low[i] -= step;
    high[i] += step;
    gradient[i] = (function(high, unused) - function(low, unused)) / (2 * step);
  }
  return gradient;
}

}  // namespace trainwarden::tune
