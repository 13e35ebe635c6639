#include "trainwarden/mean_bound.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <utility>
#include <vector>

namespace trainwarden {
namespace {

constexpr int kHalvings = 40;       // of [0, 1]: to 1e-12
constexpr double kMaxStake = 0.75;  // part of the capital that one bet may lose

// By hand: what std::shuffle makes of an engine is left to the library.
std::vector<double> shuffled(std::span<const double> scores) {
  std::vector<double> order(scores.begin(), scores.end());
  std::mt19937_64 engine(20240613);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[engine() % i]);
  return order;
}

// The stake on each score by those before it: what would let the capital grow fastest if all varied like them.
std::vector<double> stakes_of(const std::vector<double>& scores, double alpha) {
  const double growth = 2 * std::log(1 / alpha) / static_cast<double>(scores.size());
  std::vector<double> stakes;
  stakes.reserve(scores.size());
  double sum = 0.5;
  double squares = 0.25;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const double count = static_cast<double>(i + 1);
    stakes.push_back(std::sqrt(growth * count / squares));
    sum += scores[i];
    const double off = scores[i] - sum / (count + 1);
    squares += off * off;
  }
  return stakes;
}

// Has the capital of a bet on "the mean is above `mean`" reached 1 / alpha in the end?
bool is_refuted(double mean, const std::vector<double>& scores, const std::vector<double>& stakes, double alpha,
                std::int64_t population) {
  const double enough = std::log(1 / alpha);
  double log_capital = 0;
  double seen = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    // Without replacement what is left has another mean than the whole.
    const double left = static_cast<double>(population) - static_cast<double>(i);
    const double expected = population == 0 ? mean : (static_cast<double>(population) * mean - seen) / left;
    if (expected < 0) return true;  // there is more already than the whole would have
    if (expected > 0) {
      const double stake = std::min(stakes[i], kMaxStake / expected);
      log_capital += std::log1p(stake * (scores[i] - expected));
    }
    if (expected == 0 && scores[i] > 0) return true;
    seen += scores[i];
  }
  return log_capital >= enough || (population > 0 && seen > static_cast<double>(population) * mean);
}

// The largest number in [0, highest] for which `is_below` holds, which holds up to some place and no further.
template <class IsBelow>
double last_below(double highest, const IsBelow& is_below) {
  double low = 0;
  double high = highest;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (is_below(middle) ? low : high) = middle;
  }
  return low;
}

// Of two Bernoulli distributions, p against q in (0, 1).
double divergence_of(double p, double q) {
  const double ones = p > 0 ? p * std::log(p / q) : 0;
  const double zeros = p < 1 ? (1 - p) * std::log((1 - p) / (1 - q)) : 0;
  return ones + zeros;
}

}  // namespace

double alpha_of_look(double alpha, std::int64_t look, std::int64_t looks) {
  const double number = static_cast<double>(look);
  if (looks == 0) return alpha / (number * (number + 1));
  return look <= looks ? alpha / static_cast<double>(looks) : 0;
}

double lower_bound_of_scores(std::span<const double> scores, double alpha, std::int64_t population) {
  const std::vector<double> order = shuffled(scores);
  const std::vector<double> stakes = stakes_of(order, alpha);
  return last_below(1, [&](double mean) { return is_refuted(mean, order, stakes, alpha, population); });
}

bool is_bound_above(double value, std::span<const double> scores, double alpha, std::int64_t population) {
  const std::vector<double> order = shuffled(scores);
  return is_refuted(value, order, stakes_of(order, alpha), alpha, population);
}

double lower_bound_of_mean(double mean, std::int64_t count, double alpha) {
  const double enough = std::log(1 / alpha) / static_cast<double>(count);
  return last_below(mean, [&](double m) { return divergence_of(mean, m) > enough; });
}

}  // namespace trainwarden
