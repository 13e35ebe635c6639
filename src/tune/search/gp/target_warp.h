// Costs of trials as targets of a Gaussian process.
#pragma once

#include <utility>
#include <vector>

namespace trainwarden::tune {

// A rising function, such that the costs have mean 0 and variance 1.
//
// First, where the sorted costs jump, by a cost that is more than a hundred times as far from the best as the one
// before it, as behind a wall, the jump is shortened to ten times, and what lies behind it is scaled down with it; only
// among the best quarter jumps stay. Then, where a few are much larger than most, as near a divergence, log(cost - best
// + shift) is taken, with the shift, of 1, 3 and 10 times the median's distance from the best, or none, that makes them
// most like a normal distribution (profile likelihood, as Box and Cox 1964 choose their power). Costs that are not
// finite count as the worst finite one, -infinity as the best.
class TargetWarp {
 public:
  explicit TargetWarp(const std::vector<double>& costs);
  double operator()(double cost) const;

 private:
  double distance_of(double cost) const;  // from the best, in halves
  void shorten_jumps(const std::vector<double>& sorted);
  double shortened_distance(double distance) const;
  double unit_of(double cost) const;  // 0: the best finite cost, 1: the worst

  double low_ = 0, high_ = 0;                     // of the finite costs
  std::vector<std::pair<double, double>> knots_;  // both ends of each jump: distances, and what they become
  double shift_ = 0;                              // of the logarithm, in units of the range; 0: none is taken
  double mean_ = 0, deviation_ = 1;
};

}  // namespace trainwarden::tune
