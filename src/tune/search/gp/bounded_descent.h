// The minimum of a smooth function in a box, by a projected limited-memory quasi-Newton method.
#pragma once

#include <functional>

#include <Eigen/Core>

namespace trainwarden::tune {

// The value at a place, and its gradient there, which has the size of the place already. A value that is not finite is
// avoided as if it were very large.
using SmoothFunction = std::function<double(const Eigen::VectorXd& at, Eigen::VectorXd& gradient)>;

struct DescentLimits {
  int max_evaluations = 100;
  double gradient_tolerance = 1e-6;  // of the largest component that does not push against a bound
  double value_tolerance = 0;        // ends when a step gains less than this much
};

struct DescentEnd {
  Eigen::VectorXd at;
  double value = 0;  // not above that of the start
  int evaluations = 0;
};

// The two loops of Nocedal (1980) over the variables that are not held by a bound (Bertsekas 1982), with a line search
// along the projected path that halves until Armijo's condition holds.
DescentEnd minimise_in_box(const SmoothFunction& function, const Eigen::VectorXd& start, const Eigen::VectorXd& low,
                           const Eigen::VectorXd& high, const DescentLimits& limits);

}  // namespace trainwarden::tune
