#include "judge/rules/builtin/losses/loss_series.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trainwarden::rules {

std::optional<LossComparison> LossSeries::add(const LossPoint& point) {
  if (!points_.empty() && point.step <= points_.back().step) points_.clear();
  if (points_.empty()) due_ = point.step + num_steps_;
  points_.push_back(point);
  if (point.step < due_) return std::nullopt;

  // There is one: the first point is at due_ - num_steps_.
  const auto after = std::upper_bound(points_.begin(), points_.end(), point.step - num_steps_,
                                      [](std::int64_t step, const LossPoint& other) { return step < other.step; });
  const LossComparison comparison{*std::prev(after), point};
  points_.erase(points_.begin(), std::prev(points_.end()));
  due_ = point.step + num_steps_;
  return comparison;
}

double decrease_percent(double before, double now) {
  if (std::isnan(before) || std::isnan(now)) return std::numeric_limits<double>::quiet_NaN();
  if (before == now) return 0;
  const bool countable = before != 0 && std::isfinite(before);
  if (countable) return (before - now) / std::abs(before) * 100;
  return now < before ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
}

bool did_not_decrease(const LossComparison& comparison, const LossLimits& limits) {
  if (std::isnan(comparison.now.loss)) return true;
  if (std::isnan(comparison.before.loss)) return false;
  const double decrease = decrease_percent(comparison.before.loss, comparison.now.loss);
  if (decrease < 0) return -decrease > limits.increase_threshold_percent;
  return decrease == 0 || decrease < limits.diff_percent;
}

}  // namespace trainwarden::rules
