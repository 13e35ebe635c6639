#include "judge/rules/builtin/data/collapse_watch.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace trainwarden::rules {
namespace {

// The commonest class and its share.
std::pair<std::int64_t, double> commonest(const Classes& classes) {
  std::map<std::int64_t, std::int64_t> counts;
  for (const std::int64_t number : classes) ++counts[number];
  const auto most =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return {most->first, static_cast<double>(most->second) / static_cast<double>(classes.size())};
}

}  // namespace

void CollapseWatch::add(const Classes& actual, const Classes& predicted, double loss) {
  if (commonest(actual).second > kMostLabelShare) return;
  const auto [number, share] = commonest(predicted);
  if (share < kLeastPredictedShare || number != class_) losses_.clear();
  if (share < kMostDiverseShare) ++diverse_;
  class_ = number;
  share_ = share;
  if (share < kLeastPredictedShare) return;
  losses_.push_back(loss);
  if (static_cast<std::int64_t>(losses_.size()) > patience_) losses_.pop_front();
}

bool CollapseWatch::is_collapsed() const {
  return diverse_ >= kLeastDiverse && static_cast<std::int64_t>(losses_.size()) >= patience_ &&
         loss_decrease() < kLeastDecrease;
}

double CollapseWatch::loss_decrease() const {
  const auto half = static_cast<std::ptrdiff_t>(losses_.size() / 2);
  if (half == 0) return 0;
  const double before = std::accumulate(losses_.begin(), losses_.begin() + half, 0.0);
  const double after = std::accumulate(losses_.end() - half, losses_.end(), 0.0);
  return before == 0 ? 0 : (before - after) / std::abs(before);
}

}  // namespace trainwarden::rules
