// The standard normal distribution, also far out in its tails.
#pragma once

namespace trainwarden::tune {

double normal_density(double x);
double log_normal_density(double x);
double normal_cdf(double x);
double log_normal_cdf(double x);  // finite for all finite x: by an asymptotic series below -10
// Of a probability in (0, 1): Wichura's AS 241 (1988), relative error below 1e-15. 0 and 1 give the infinities.
double normal_quantile(double probability);
// log(cdf(high) - cdf(low)), low < high, without cancellation in the tails.
double log_normal_mass(double low, double high);
// The x between low and high below which the share `part` in [0, 1] of that mass lies.
double normal_quantile_between(double low, double high, double part);

}  // namespace trainwarden::tune
