#include "read/profile/rates.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace trainwarden::profile {
namespace {

constexpr double kNsPerSecond = 1e9;

bool is_earlier(const Sample& sample, std::int64_t unix_ns) {
  return sample.unix_ns < unix_ns;
}

}  // namespace

std::vector<Sample> rate_of(std::span<const Sample> counter) {
  std::vector<Sample> rates;
  rates.reserve(counter.size());
  for (std::size_t i = 1; i < counter.size(); ++i) {
    const double rise = counter[i].value - counter[i - 1].value;
    const std::int64_t passed_ns = counter[i].unix_ns - counter[i - 1].unix_ns;
    if (passed_ns <= 0 || !(rise >= 0)) continue;
    rates.push_back({counter[i].unix_ns, rise / (static_cast<double>(passed_ns) / kNsPerSecond)});
  }
  return rates;
}

std::optional<double> rise_of(std::span<const Sample> counter) {
  if (counter.size() < 2) return std::nullopt;
  double rise = 0;
  for (std::size_t i = 1; i < counter.size(); ++i) {
    const double step = counter[i].value - counter[i - 1].value;
    rise += step >= 0 ? step : counter[i].value;
  }
  return rise;
}

std::span<const Sample> between(std::span<const Sample> samples, std::int64_t from_unix_ns, std::int64_t to_unix_ns) {
  const auto first = std::lower_bound(samples.begin(), samples.end(), from_unix_ns, is_earlier);
  const auto last = std::lower_bound(first, samples.end(), to_unix_ns, is_earlier);
  return samples.subspan(static_cast<std::size_t>(first - samples.begin()), static_cast<std::size_t>(last - first));
}

double quantile_of_sorted(std::span<const double> sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

std::optional<Quantiles> quantiles_of(std::span<const Sample> samples) {
  std::vector<double> values;
  values.reserve(samples.size());
  for (const Sample& sample : samples) {
    if (std::isfinite(sample.value)) values.push_back(sample.value);
  }
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  const auto at = [&values](double share) { return quantile_of_sorted(values, share); };
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  return Quantiles{at(0), at(0.25), at(0.5), at(0.75), at(0.95), at(0.99), at(1), mean, values.size()};
}

}  // namespace trainwarden::profile
