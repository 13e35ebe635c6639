// RecentValues: the newest of a series of numbers, and what can be said of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "read/profile/rates.h"

namespace trainwarden::rules {

class RecentValues {
 public:
  explicit RecentValues(std::size_t most) : most_(std::max<std::size_t>(most, 1)) {}

  void add(double value) {
    highest_ = seen_ == 0 ? value : std::max(highest_, value);
    if (values_.size() < most_) {
      values_.push_back(value);
    } else {
      values_[seen_ % most_] = value;
    }
    ++seen_;
  }

  std::size_t size() const { return values_.size(); }
  std::size_t seen() const { return seen_; }   // also those that are forgotten
  double highest() const { return highest_; }  // of all seen

  // Not for an empty one.
  double mean() const { return mean_of(0, values_.size()); }
  double quantile(double share) const {
    std::vector<double> sorted = values_;
    std::sort(sorted.begin(), sorted.end());
    return profile::quantile_of_sorted(sorted, share);
  }
  // Of `count` values, of which the newest has `behind` newer ones. There must be so many.
  double mean_back(std::size_t behind, std::size_t count) const {
    return mean_of(values_.size() - behind - count, count);
  }

 private:
  // From the oldest that is held on.
  double mean_of(std::size_t first, std::size_t count) const {
    const std::size_t oldest = values_.size() < most_ ? 0 : seen_ % most_;
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += values_[(oldest + first + i) % values_.size()];
    return sum / static_cast<double>(count);
  }

  std::size_t most_;
  std::vector<double> values_;
  std::size_t seen_ = 0;
  double highest_ = 0;
};

}  // namespace trainwarden::rules
