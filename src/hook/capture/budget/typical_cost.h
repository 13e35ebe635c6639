// TypicalCost: what something costs that comes again and again, as the middle of its last few costs.
//
// On a machine that is busy a call of microseconds is interrupted now and then, and is then seen to take milliseconds.
// The mean of its costs says how busy the machine is; the median says what the call costs.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace trainwarden::capture {

class TypicalCost {
 public:
  static constexpr std::size_t kRemembered = 9;

  void add(double ns) {
    newest_[count_ % kRemembered] = ns;
    ++count_;
  }
  std::size_t count() const { return count_; }
  // The lower of the two in the middle where there are two: the first time often warms things up. 0 before there is
  // any.
  double ns() const {
    const std::size_t known = std::min(count_, kRemembered);
    if (known == 0) return 0;
    std::array<double, kRemembered> sorted = newest_;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>((known - 1) / 2);
    std::nth_element(sorted.begin(), middle, sorted.begin() + static_cast<std::ptrdiff_t>(known));
    return *middle;
  }

 private:
  std::array<double, kRemembered> newest_ = {};
  std::size_t count_ = 0;
};

}  // namespace trainwarden::capture
