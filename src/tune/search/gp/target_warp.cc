#include "tune/search/gp/target_warp.h"

#include <algorithm>
#include <cmath>

namespace trainwarden::tune {
namespace {

constexpr double kShifts[] = {10, 3, 1};  // in units of the median's distance from the best
// Between the distances of neighbours from the best.
constexpr double kLargestJump = 100, kShortenedJump = 10;

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double variance_of(const std::vector<double>& values, double mean) {
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum / static_cast<double>(values.size());
}

// Below 0 it goes on as a line.
double shifted_logarithm(double unit, double shift) {
  if (shift == 0) return unit;
  return unit > 0 ? std::log(unit + shift) : std::log(shift) + unit / shift;
}

// The negative logarithm of the likelihood of a normal distribution of the best mean and variance, after this
// logarithm.
double loss_of_shift(const std::vector<double>& units, double shift) {
  std::vector<double> values;
  double log_slopes = 0;
  for (const double unit : units) {
    values.push_back(shifted_logarithm(unit, shift));
    if (shift > 0) log_slopes -= std::log(unit + shift);
  }
  return 0.5 * static_cast<double>(values.size()) * std::log(variance_of(values, mean_of(values))) - log_slopes;
}

// Of sorted costs in [0, 1], the shift that makes them most like a normal distribution.
double likeliest_shift(const std::vector<double>& units) {
  const double median = units[units.size() / 2];
  if (!(median > 0) || units.front() == units.back()) return 0;
  double best = 0, least = loss_of_shift(units, 0);
  for (const double part : kShifts) {
    const double loss = loss_of_shift(units, part * median);
    if (loss < least) {
      best = part * median;
      least = loss;
    }
  }
  return best;
}

}  // namespace

TargetWarp::TargetWarp(const std::vector<double>& costs) {
  std::vector<double> finite;
  for (const double cost : costs) {
    if (std::isfinite(cost)) finite.push_back(cost);
  }
  if (finite.empty()) return;
  std::sort(finite.begin(), finite.end());
  low_ = finite.front();
  high_ = finite.back();
  shorten_jumps(finite);
  for (double& cost : finite) cost = unit_of(cost);
  shift_ = likeliest_shift(finite);
  for (double& unit : finite) unit = shifted_logarithm(unit, shift_);
  mean_ = mean_of(finite);
  const double variance = variance_of(finite, mean_);
  deviation_ = variance > 0 ? std::sqrt(variance) : 1;
}

double TargetWarp::distance_of(double cost) const {
  if (!std::isfinite(cost)) cost = cost < 0 ? low_ : high_;
  return cost / 2 - low_ / 2;  // halves, since the range of doubles is no double
}

// The best quarter may lie as close together as it likes: a search ends like that.
void TargetWarp::shorten_jumps(const std::vector<double>& sorted) {
  for (std::size_t i = sorted.size() / 4 + 1; i < sorted.size(); ++i) {
    const double before = distance_of(sorted[i - 1]), after = distance_of(sorted[i]);
    if (!(before > 0 && after / kLargestJump > before)) continue;
    const double shortened = shortened_distance(before);
    knots_.emplace_back(before, shortened);
    knots_.emplace_back(after, shortened * kShortenedJump);
  }
}

double TargetWarp::shortened_distance(double distance) const {
  std::size_t next = 0;
  while (next < knots_.size() && knots_[next].first < distance) ++next;
  if (knots_.empty() || next == 0) return distance;
  const auto [from, at_from] = knots_[next - 1];
  if (next % 2 == 0) return distance / from * at_from;  // not within a jump
  const auto [to, at_to] = knots_[next];
  return at_from + (distance - from) / (to - from) * (at_to - at_from);
}

double TargetWarp::unit_of(double cost) const {
  if (low_ == high_) return 0;
  return shortened_distance(distance_of(cost)) / shortened_distance(distance_of(high_));
}

double TargetWarp::operator()(double cost) const {
  return (shifted_logarithm(unit_of(cost), shift_) - mean_) / deviation_;
}

}  // namespace trainwarden::tune
