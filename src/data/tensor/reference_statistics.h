// For tests: statistics by their definition, slowly, and a loop over the CPU targets that can run here.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include <hwy/targets.h>

#include "trainwarden/statistics.h"

namespace trainwarden {

// Runs body() once for each target that this build has and this CPU supports.
template <class Body>
void for_each_target(Body body) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    SCOPED_TRACE(hwy::TargetName(target));
    body();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

// A sum of doubles and of their squares without rounding: one counter for each bit, added up at the end.
class ReferenceSum {
 public:
  void add(double value) { add_product(value, 1); }
  void add_square(double value) { add_product(value, value); }

  ExactSum exact() const {
    std::array<std::int64_t, kBits> bits = bits_;
    const bool negative = carry(bits) < 0;
    if (negative) {
      for (std::size_t i = 0; i < kBits; ++i) bits[i] = -bits_[i];
      carry(bits);
    }
    std::vector<std::uint64_t> limbs(kBits / 64);
    for (std::size_t i = 0; i < kBits; ++i) limbs[i / 64] |= static_cast<std::uint64_t>(bits[i]) << (i % 64);
    std::int32_t lowest_limb = kLowestBit / 64;
    while (!limbs.empty() && limbs.back() == 0) limbs.pop_back();
    while (!limbs.empty() && limbs.front() == 0) {
      limbs.erase(limbs.begin());
      ++lowest_limb;
    }
    if (limbs.empty()) return {};
    return {negative, lowest_limb, limbs};
  }

 private:
  static constexpr int kLowestBit = -2176;
  static constexpr std::size_t kBits = 4352;

  // Leaves 0 or 1 in each bit; returns what is left over at the top.
  static std::int64_t carry(std::array<std::int64_t, kBits>& bits) {
    std::int64_t over = 0;
    for (std::int64_t& bit : bits) {
      const std::int64_t total = bit + over;
      bit = total & 1;
      over = total >> 1;
    }
    return over;
  }

  // Schoolbook multiplication of the mantissas, bit by bit.
  void add_product(double a, double b) {
    int a_exponent = 0;
    int b_exponent = 0;
    const auto a_mantissa = static_cast<std::int64_t>(std::ldexp(std::frexp(std::fabs(a), &a_exponent), 53));
    const auto b_mantissa = static_cast<std::int64_t>(std::ldexp(std::frexp(std::fabs(b), &b_exponent), 53));
    const int sign = std::signbit(a) != std::signbit(b) ? -1 : 1;
    const int lowest = a_exponent + b_exponent - 106 - kLowestBit;
    for (int i = 0; i < 53; ++i) {
      for (int j = 0; j < 53; ++j) {
        if ((a_mantissa >> i & 1) != 0 && (b_mantissa >> j & 1) != 0)
          bits_[static_cast<std::size_t>(lowest + i + j)] += sign;
      }
    }
  }

  std::array<std::int64_t, kBits> bits_{};
};

// The core of Statistics: no histogram, no hash.
inline Statistics reference_statistics(const std::vector<double>& values) {
  Statistics s;
  ReferenceSum sum;
  ReferenceSum abs_sum;
  ReferenceSum square_sum;
  const auto widen = [](double& low, double& high, double value) {
    if (std::isnan(low) || value < low) low = value;
    if (std::isnan(high) || value > high) high = value;
  };
  for (const double element : values) {
    ++s.count;
    if (std::isnan(element)) {
      ++s.nan_count;
    } else if (std::isinf(element)) {
      ++(element > 0 ? s.positive_inf_count : s.negative_inf_count);
    } else {
      const double value = element == 0 ? 0.0 : element;  // one zero only
      s.zero_count += value == 0 ? 1 : 0;
      widen(s.min, s.max, value);
      widen(s.abs_min, s.abs_max, std::fabs(value));
      sum.add(value);
      abs_sum.add(std::fabs(value));
      square_sum.add_square(value);
    }
  }
  s.sum = sum.exact();
  s.abs_sum = abs_sum.exact();
  s.square_sum = square_sum.exact();
  return s;
}

}  // namespace trainwarden
