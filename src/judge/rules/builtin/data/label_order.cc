#include "judge/rules/builtin/data/label_order.h"

#include <algorithm>
#include <cmath>

namespace trainwarden::rules {

void LabelOrder::add(const Classes& labels) {
  if (labels.empty() || counts_.size() > kMostClasses) return;
  // A data set that is one batch, in whatever order, comes again as it is. Batches of one class are alike when sorted.
  const bool has_classes = std::any_of(labels.begin(), labels.end(), [&](auto label) { return label != labels[0]; });
  if (has_classes && labels == last_) return;
  for (const std::int64_t label : labels) ++counts_[label];
  total_ += static_cast<std::int64_t>(labels.size());
  for (std::size_t i = 1; i < labels.size(); ++i) {
    within_.alike += labels[i] == labels[i - 1] ? 1 : 0;
    ++within_.all;
  }
  if (!last_.empty()) {
    across_.alike += last_.back() == labels.front() ? 1 : 0;
    ++across_.all;
  }
  last_ = labels;
  ++batches_;
}

double LabelOrder::chance() const {
  double chance = 0;
  for (const auto& [label, count] : counts_) {
    const double share = static_cast<double>(count) / static_cast<double>(total_);
    chance += share * share;
  }
  return chance;
}

bool LabelOrder::is_ordered(double threshold) const {
  if (counts_.size() < 2 || counts_.size() > kMostClasses) return false;
  if (within_.all >= kLeastPairs && !exceeds(within_, threshold)) return false;
  return exceeds(across_, threshold);
}

bool LabelOrder::exceeds(const Pairs& pairs, double threshold) const {
  if (pairs.all == 0) return false;
  const double expected = chance();
  const double deviation = std::sqrt(expected * (1 - expected) / static_cast<double>(pairs.all));
  const double excess = pairs.share() - expected;
  return excess > threshold * (1 - expected) && excess > kLeastDeviations * deviation;
}

}  // namespace trainwarden::rules
