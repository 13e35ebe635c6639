// The arithmetic of the harness.
#include "bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace trainwarden::bench {

namespace {

// Linear between the two nearest samples; `sorted` is not empty.
double quantile(const std::vector<double>& sorted, double fraction) {
  const double position = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], position - static_cast<double>(below));
}

}  // namespace

Spread spread_of(std::vector<double> samples) {
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  return {quantile(samples, 0.25), quantile(samples, 0.5), quantile(samples, 0.75)};
}

bool Goal::met_by(double value) const {
  switch (kind) {
    case Kind::kNone: return true;
    case Kind::kAtMost: return value <= bound;
    case Kind::kAtLeast: return value >= bound;
  }
  return false;
}

std::string Goal::to_string() const {
  switch (kind) {
    case Kind::kNone: return "none";
    case Kind::kAtMost: return fmt::format("<= {:g}", bound);
    case Kind::kAtLeast: return fmt::format(">= {:g}", bound);
  }
  return "none";
}

Goal at_most(double bound) {
  return {Goal::Kind::kAtMost, bound};
}
Goal at_least(double bound) {
  return {Goal::Kind::kAtLeast, bound};
}

Spread PairedRuns::ratio(std::size_t arm, std::size_t reference) const {
  std::vector<double> ratios(ns_by_arm_[arm].size());
  std::transform(ns_by_arm_[arm].begin(), ns_by_arm_[arm].end(), ns_by_arm_[reference].begin(), ratios.begin(),
                 [](double a, double b) { return a / b; });
  return spread_of(std::move(ratios));
}

PairedRuns measure_interleaved(int rounds, std::span<const std::function<double()>> arms) {
  std::vector<std::vector<double>> ns_by_arm(arms.size());
  for (int round = -1; round < rounds; ++round) {
    for (std::size_t i = 0; i < arms.size(); ++i) {
      const std::size_t arm = (i + static_cast<std::size_t>(round + 1)) % arms.size();
      const double ns = arms[arm]();
      if (round >= 0) ns_by_arm[arm].push_back(ns);
    }
  }
  return PairedRuns(std::move(ns_by_arm));
}

PairedRuns run_interleaved(int rounds, std::span<const std::function<void()>> arms) {
  std::vector<std::function<double()>> timed;
  for (const auto& arm : arms) timed.emplace_back([&arm] { return elapsed_ns(arm); });
  return measure_interleaved(rounds, timed);
}

}  // namespace trainwarden::bench
