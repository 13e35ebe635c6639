#include "tune/search/importance/importance_share.h"

#include <algorithm>
#include <cmath>

namespace trainwarden::tune {
namespace {

constexpr double kLowQuantile = 0.05, kHighQuantile = 0.95;

// Of a sorted list that is not empty; between two values in proportion.
double sorted_quantile(const std::vector<double>& sorted, double part) {
  const double place = part * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - std::floor(place)) * (sorted[above] - sorted[below]);
}

}  // namespace

ImportanceShare share_of(double estimate, std::vector<double> redrawn) {
  const double importance = std::clamp(estimate, 0.0, 1.0);
  if (redrawn.empty()) return {importance, 0, 1};
  std::sort(redrawn.begin(), redrawn.end());
  const double low = std::clamp(sorted_quantile(redrawn, kLowQuantile), 0.0, 1.0);
  const double high = std::clamp(sorted_quantile(redrawn, kHighQuantile), 0.0, 1.0);
  return {importance, std::min(low, importance), std::max(high, importance)};
}

ImportanceShare scaled(const ImportanceShare& share, double factor) {
  return {share.importance * factor, share.low * factor, std::min(1.0, share.high * factor)};
}

}  // namespace trainwarden::tune
