#include "work/experiments/metric_summary.h"

#include <algorithm>
#include <cmath>

namespace trainwarden::experiments {

void MetricSummary::add(double value, std::int64_t unix_ns) {
  ++count;
  last = value;
  last_unix_ns = unix_ns;
  if (!std::isfinite(value)) return;
  min = finite == 0 ? value : std::min(min, value);
  max = finite == 0 ? value : std::max(max, value);
  ++finite;
  const double distance = value - mean;
  mean += distance / static_cast<double>(finite);
  m2 += distance * (value - mean);
}

void MetricSummary::merge(const MetricSummary& other) {
  if (other.count == 0) return;
  if (count == 0 || other.last_unix_ns >= last_unix_ns) {
    last = other.last;
    last_unix_ns = other.last_unix_ns;
  }
  count += other.count;
  if (other.finite == 0) return;
  if (finite == 0) {
    min = other.min;
    max = other.max;
    mean = other.mean;
    m2 = other.m2;
    finite = other.finite;
    return;
  }
  const auto ours = static_cast<double>(finite);
  const auto theirs = static_cast<double>(other.finite);
  const double distance = other.mean - mean;
  min = std::min(min, other.min);
  max = std::max(max, other.max);
  mean += distance * (theirs / (ours + theirs));
  m2 += other.m2 + distance * distance * (ours * theirs / (ours + theirs));
  finite += other.finite;
}

double MetricSummary::deviation() const {
  return finite == 0 ? 0 : std::sqrt(m2 / static_cast<double>(finite));
}

}  // namespace trainwarden::experiments
