#include "tune/search/gp/log_improvement.h"

#include <cmath>
#include <limits>

#include "tune/search/normal.h"

namespace trainwarden::tune {
namespace {

constexpr double kAsymptotic = -25;

// h(z) / density(z) for z below -1: 1 + z * R(-z) with Mills' ratio R.
double tail_over_density(double z) {
  if (z > kAsymptotic) return 1 + z * normal_cdf(z) / normal_density(z);
  const double y = 1 / (z * z);
  return y * (1 + y * (-3 + y * (15 + y * (-105 + y * 945))));
}

}  // namespace

double log_positive_part(double z) {
  if (z > -1) return std::log(normal_density(z) + z * normal_cdf(z));
  return log_normal_density(z) + std::log(tail_over_density(z));
}

LogValue log_expected_improvement(double mean, double deviation, double bound) {
  const double z = (bound - mean) / deviation;
  const double log_part = log_positive_part(z);
  // h' / h
  const double slope = std::exp(log_normal_cdf(z) - log_part);
  return {std::log(deviation) + log_part, -slope / deviation, (1 - z * slope) / deviation};
}

LogValue log_feasibility(double mean, double deviation, double bound) {
  const double z = (bound - mean) / deviation;
  const double log_cdf = log_normal_cdf(z);
  const double slope = std::exp(log_normal_density(z) - log_cdf);
  return {log_cdf, -slope / deviation, -slope * z / deviation};
}

LogValue log_expected_gain(double mean, double deviation, double low, double high) {
  const LogValue up_to_high = log_expected_improvement(mean, deviation, high);
  if (low == -std::numeric_limits<double>::infinity()) return up_to_high;
  const LogValue up_to_low = log_expected_improvement(mean, deviation, low);
  const double share = std::exp(up_to_low.value - up_to_high.value), rest = 1 - share;
  if (!(rest > 0)) return {-std::numeric_limits<double>::infinity(), 0, 0};  // narrower than doubles see
  return {up_to_high.value + std::log1p(-share), (up_to_high.by_mean - share * up_to_low.by_mean) / rest,
          (up_to_high.by_deviation - share * up_to_low.by_deviation) / rest};
}

}  // namespace trainwarden::tune
