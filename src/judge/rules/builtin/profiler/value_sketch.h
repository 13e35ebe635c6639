// ValueSketch: the distribution of numbers from 0 on in bounded memory; quantiles are right within one percent.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>

namespace trainwarden::rules {

// Source: Masson et al., DDSketch (VLDB 2019): bins whose limits grow by a constant factor.
class ValueSketch {
 public:
  void add(double value) {
    if (!std::isfinite(value) || value < 0) return;
    lowest_ = count_ == 0 ? value : std::min(lowest_, value);
    highest_ = std::max(highest_, value);
    ++count_;
    sum_ += value;
    if (value < kSmallest) {
      ++zeros_;
    } else {
      ++bins_[static_cast<std::int32_t>(std::ceil(std::log(std::min(value, kLargest)) / kLogFactor))];
    }
  }

  std::uint64_t count() const { return count_; }
  double lowest() const { return lowest_; }
  double highest() const { return highest_; }
  double mean() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }
  // Not for an empty one; `share` in [0, 1].
  double quantile(double share) const {
    const auto rank = static_cast<std::uint64_t>(share * static_cast<double>(count_ - 1));
    std::uint64_t below = zeros_;
    if (rank < below) return lowest_;
    for (const auto& [bin, count] : bins_) {
      below += count;
      if (rank < below) return std::clamp(std::exp((bin - 0.5) * kLogFactor), lowest_, highest_);
    }
    return highest_;
  }

 private:
  static constexpr double kLogFactor = 0.0198;  // 2 % wide
  static constexpr double kSmallest = 1e-6, kLargest = 1e18;

  std::map<std::int32_t, std::uint64_t> bins_;  // 2800 at most
  std::uint64_t zeros_ = 0;
  std::uint64_t count_ = 0;
  double sum_ = 0, lowest_ = 0, highest_ = 0;
};

}  // namespace trainwarden::rules
