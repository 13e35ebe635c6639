#include "cli/spans/target.h"

#include <numeric>
#include <vector>

#include "trainwarden/mean_bound.h"

namespace bert {
namespace {

constexpr double kHighest = 100;

}  // namespace

Look look_at(std::span<const double> scores, const Target& target) {
  std::vector<double> parts(scores.begin(), scores.end());
  for (double& part : parts) part /= kHighest;
  const double alpha = trainwarden::alpha_of_look(target.alpha, 1, target.looks);
  Look look;
  look.mean = std::accumulate(scores.begin(), scores.end(), 0.0) / static_cast<double>(scores.size());
  look.not_below = kHighest * trainwarden::lower_bound_of_scores(parts, alpha, target.population);
  look.reached = look.not_below >= target.mean;
  return look;
}

}  // namespace bert
