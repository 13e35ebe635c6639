// ValueDigest: the distribution of many numbers, in memory that has a limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "ui/views/profile/profile_report.h"

namespace trainwarden::views {

// Least, largest and mean are of all numbers; quantiles too up to `most`, beyond it of every second, fourth, ... one.
class ValueDigest {
 public:
  explicit ValueDigest(std::size_t most) : most_(most) {}

  void add(double value);  // what is not finite is left out
  std::uint64_t count() const { return count_; }
  double last() const { return last_; }
  std::optional<ValueSpread> distribution() const;  // none of nothing

 private:
  const std::size_t most_;
  std::vector<float> values_;
  std::uint64_t every_ = 1;
  std::uint64_t count_ = 0;
  double sum_ = 0, min_ = 0, max_ = 0, last_ = 0;
};

}  // namespace trainwarden::views
