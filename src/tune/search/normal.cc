#include "tune/search/normal.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace trainwarden::tune {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kLogRootTwoPi = 0.5 * std::log(2 * std::numbers::pi);

// log(exp(high) - exp(low)), low <= high.
double log_difference(double high, double low) {
  return low == -kInfinity ? high : high + std::log1p(-std::exp(low - high));
}

template <std::size_t n>
double polynomial(const double (&coefficients)[n], double x) {
  double sum = 0;
  for (std::size_t i = n; i-- > 0;) sum = sum * x + coefficients[i];
  return sum;
}

// The three ranges of AS 241, routine PPND16.
double central_quantile(double q) {
  constexpr double kOver[] = {3.3871328727963666080e0,  1.3314166789178437745e+2, 1.9715909503065514427e+3,
                              1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                              3.3430575583588128105e+4, 2.5090809287301226727e+3};
  constexpr double kUnder[] = {1.0,
                               4.2313330701600911252e+1,
                               6.8718700749205790830e+2,
                               5.3941960214247511077e+3,
                               2.1213794301586595867e+4,
                               3.9307895800092710610e+4,
                               2.8729085735721942674e+4,
                               5.2264952788528545610e+3};
  const double r = 0.180625 - q * q;
  return q * polynomial(kOver, r) / polynomial(kUnder, r);
}

double tail_quantile(double r) {
  constexpr double kOver[] = {1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
                              3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
                              2.27238449892691845833e-2, 7.74545014278341407640e-4};
  constexpr double kUnder[] = {1.0,
                               2.05319162663775882187e0,
                               1.67638483018380384940e0,
                               6.89767334985100004550e-1,
                               1.48103976427480074590e-1,
                               1.51986665636164571966e-2,
                               5.47593808499534494600e-4,
                               1.05075007164441684324e-9};
  constexpr double kFarOver[] = {6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
                                 2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                 2.71155556874348757815e-5, 2.01033439929228813265e-7};
  constexpr double kFarUnder[] = {1.0,
                                  5.99832206555887937690e-1,
                                  1.36929880922735805310e-1,
                                  1.48753612908506148525e-2,
                                  7.86869131145613259100e-4,
                                  1.84631831751005468180e-5,
                                  1.42151175831644588870e-7,
                                  2.04426310338993978564e-15};
  if (r <= 5) return polynomial(kOver, r - 1.6) / polynomial(kUnder, r - 1.6);
  return polynomial(kFarOver, r - 5) / polynomial(kFarUnder, r - 5);
}

// From the logarithm of the probability, which may be too small for a double.
double quantile_of_log(double log_probability) {
  if (log_probability > std::log(0.075)) return normal_quantile(std::exp(log_probability));
  double x = -tail_quantile(std::sqrt(-log_probability));
  // AS 241 ends where doubles do; a step or two of Newton's method on the logarithm go on from there.
  for (int i = 0; i < 3; ++i) {
    const double log_cdf = log_normal_cdf(x);
    x -= (log_cdf - log_probability) * std::exp(log_cdf - log_normal_density(x));
  }
  return x;
}

}  // namespace

double normal_density(double x) {
  return std::exp(log_normal_density(x));
}
double log_normal_density(double x) {
  return -0.5 * x * x - kLogRootTwoPi;
}
double normal_cdf(double x) {
  return 0.5 * std::erfc(-x / std::numbers::sqrt2);
}

double log_normal_cdf(double x) {
  if (x > -10) return x > 5 ? std::log1p(-normal_cdf(-x)) : std::log(normal_cdf(x));
  // Mills' ratio: 1 - 1/x^2 + 3/x^4 - 15/x^6 + 105/x^8.
  const double y = 1 / (x * x);
  return log_normal_density(x) - std::log(-x) + std::log1p(y * (-1 + y * (3 + y * (-15 + y * 105))));
}

double normal_quantile(double probability) {
  if (!(probability > 0)) return -kInfinity;
  if (!(probability < 1)) return kInfinity;
  const double q = probability - 0.5;
  if (std::abs(q) <= 0.425) return central_quantile(q);
  const double x = tail_quantile(std::sqrt(-std::log(std::min(probability, 1 - probability))));
  return q < 0 ? -x : x;
}

double log_normal_mass(double low, double high) {
  if (low > 0) return log_normal_mass(-high, -low);  // where the logarithms of the cdf are exact
  if (high <= 0) return log_difference(log_normal_cdf(high), log_normal_cdf(low));
  return std::log1p(-normal_cdf(low) - normal_cdf(-high));
}

double normal_quantile_between(double low, double high, double part) {
  if (low > 0) return -normal_quantile_between(-high, -low, 1 - part);
  const double log_low = log_normal_cdf(low), log_mass = log_normal_mass(low, high);
  // log(cdf(low) + part * mass)
  const double log_part = std::log(part) + log_mass;
  const double larger = std::max(log_low, log_part), smaller = std::min(log_low, log_part);
  const double log_sum = larger == -kInfinity ? larger : larger + std::log1p(std::exp(smaller - larger));
  return std::clamp(log_sum == -kInfinity ? low : quantile_of_log(log_sum), low, high);
}

}  // namespace trainwarden::tune
