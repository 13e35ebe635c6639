// How much better than a bound a normally distributed cost will be, by its logarithm, which has a gradient also where
// the improvement itself is 0 in doubles (Ament et al. 2023, "Unexpected improvements to expected improvement").
#pragma once

namespace trainwarden::tune {

// log h(z), h(z) = density(z) + z * cdf(z): the expected positive part of z - Z. Direct above -1; below by Mills'
// ratio; below -25 by its asymptotic series. Relative error of h below 1e-12.
double log_positive_part(double z);

struct LogValue {
  double value = 0, by_mean = 0, by_deviation = 0;
};

// log E[max(0, bound - Y)], Y normal.
LogValue log_expected_improvement(double mean, double deviation, double bound);
// log P(Y <= bound).
LogValue log_feasibility(double mean, double deviation, double bound);
// log E[length of the part of [low, high] that lies above Y] = log E[(high - Y)+ - (low - Y)+]; low may be -infinity.
// Products of these over independent objectives are expected hypervolumes of boxes.
LogValue log_expected_gain(double mean, double deviation, double low, double high);

}  // namespace trainwarden::tune
