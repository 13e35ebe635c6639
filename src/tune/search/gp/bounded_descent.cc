#include "tune/search/gp/bounded_descent.h"

#include <algorithm>
#include <cmath>
#include <deque>

namespace trainwarden::tune {
namespace {

using Eigen::VectorXd;

constexpr std::size_t kCorrections = 8;
constexpr double kArmijo = 1e-4;
constexpr int kMaxTrialSteps = 20;

struct Correction {
  VectorXd step, change;  // of the place, of the gradient
  double inverse_product;
};

// Is a variable held by its bound? Then a step along the negative gradient would leave the box.
bool is_held(double at, double low, double high, double gradient) {
  return (at <= low && gradient > 0) || (at >= high && gradient < 0);
}

// -H g by the corrections, where H is about the inverse of the matrix of second derivatives.
VectorXd newton_direction(const VectorXd& gradient, const std::deque<Correction>& corrections) {
  VectorXd direction = -gradient;
  std::vector<double> shares(corrections.size());
  for (std::size_t i = corrections.size(); i-- > 0;) {
    shares[i] = corrections[i].inverse_product * corrections[i].step.dot(direction);
    direction -= shares[i] * corrections[i].change;
  }
  const Correction& last = corrections.back();
  direction *= 1 / (last.inverse_product * last.change.squaredNorm());
  for (std::size_t i = 0; i < corrections.size(); ++i) {
    const double share = corrections[i].inverse_product * corrections[i].change.dot(direction);
    direction += (shares[i] - share) * corrections[i].step;
  }
  return direction;
}

class BoxDescent {
 public:
  BoxDescent(const SmoothFunction& function, const VectorXd& low, const VectorXd& high, const DescentLimits& limits)
      : function_(function), low_(low), high_(high), limits_(limits) {}

  DescentEnd run(const VectorXd& start) {
    at_ = start.cwiseMax(low_).cwiseMin(high_);
    gradient_.resize(at_.size());
    value_ = function_(at_, gradient_);
    evaluations_ = 1;
    while (evaluations_ < limits_.max_evaluations && std::isfinite(value_)) {
      const VectorXd free = free_gradient();
      if (free.size() == 0 || free.lpNorm<Eigen::Infinity>() <= limits_.gradient_tolerance) break;
      const double before = value_;
      bool has_moved = !corrections_.empty() && step_along(quasi_newton(free), 1);
      if (!has_moved) {  // as at the start: down the gradient, not further than a unit
        corrections_.clear();
        has_moved = step_along(-free, std::min(1.0, 1 / free.norm()));
      }
      if (!has_moved || before - value_ < limits_.value_tolerance) break;
    }
    return {at_, value_, evaluations_};
  }

 private:
  VectorXd free_gradient() const {
    VectorXd free = gradient_;
    for (Eigen::Index i = 0; i < free.size(); ++i) {
      if (is_held(at_[i], low_[i], high_[i], gradient_[i])) free[i] = 0;
    }
    return free;
  }

  VectorXd quasi_newton(const VectorXd& free) const {
    VectorXd direction = newton_direction(free, corrections_);
    for (Eigen::Index i = 0; i < free.size(); ++i) {
      if (is_held(at_[i], low_[i], high_[i], gradient_[i])) direction[i] = 0;
    }
    return direction;
  }

  // Moves when some part of this step is enough of a descent.
  bool step_along(const VectorXd& direction, double length) {
    if (!(direction.dot(gradient_) < 0)) return false;
    VectorXd gradient(at_.size());
    for (int i = 0; i < kMaxTrialSteps && evaluations_ < limits_.max_evaluations; ++i) {
      const VectorXd next = (at_ + length * direction).cwiseMax(low_).cwiseMin(high_);
      const VectorXd step = next - at_;
      const double slope = gradient_.dot(step);
      if (!(slope < 0)) return false;
      const double value = function_(next, gradient);
      ++evaluations_;
      if (value <= value_ + kArmijo * slope) {
        remember(step, gradient - gradient_);
        at_ = next;
        value_ = value;
        gradient_ = gradient;
        return true;
      }
      // The minimum of the parabola through what is known, within limits.
      const double parabola = -slope / (2 * (value - value_ - slope));
      length *= std::isfinite(parabola) ? std::clamp(parabola, 0.1, 0.5) : 0.1;
    }
    return false;
  }

  void remember(const VectorXd& step, const VectorXd& change) {
    const double product = step.dot(change);
    if (!(product > 1e-10 * change.squaredNorm())) return;  // no curvature that a minimum has
    corrections_.push_back({step, change, 1 / product});
    if (corrections_.size() > kCorrections) corrections_.pop_front();
  }

  const SmoothFunction& function_;
  const VectorXd &low_, &high_;
  const DescentLimits& limits_;
  VectorXd at_, gradient_;
  double value_ = 0;
  int evaluations_ = 0;
  std::deque<Correction> corrections_;
};

}  // namespace

DescentEnd minimise_in_box(const SmoothFunction& function, const VectorXd& start, const VectorXd& low,
                           const VectorXd& high, const DescentLimits& limits) {
  return BoxDescent(function, low, high, limits).run(start);
}

}  // namespace trainwarden::tune
