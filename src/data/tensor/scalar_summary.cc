#include "data/tensor/scalar_summary.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace trainwarden {
namespace {

constexpr int kDoubleMantissaBits = 52;
// Mantissas may be shifted by so much within 64 bits. Exponents of ordinary tensors rarely spread further.
constexpr int kMaxShift = 11;

// A finite number: ± mantissa × 2^(exponent - 1075)
struct Parts {
  explicit Parts(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const auto biased_exponent = static_cast<int>((bits >> kDoubleMantissaBits) & 0x7ff);
    const std::uint64_t hidden_bit = std::uint64_t{biased_exponent == 0 ? 0u : 1u} << kDoubleMantissaBits;
    mantissa = (bits & ((std::uint64_t{1} << kDoubleMantissaBits) - 1)) | hidden_bit;
    exponent = biased_exponent + (biased_exponent == 0 ? 1 : 0);
    negative = bits >> 63 != 0;
  }

  std::uint64_t mantissa;
  int exponent;  // 1 to 2046
  bool negative;
};

constexpr int kExponentOfUnit = 1075;

template <class T>
std::uint64_t magnitude(T value) {
  const auto bits = static_cast<std::uint64_t>(value);
  return value < 0 ? 0 - bits : bits;
}

}  // namespace

void DoubleSummary::add(const double* values, std::size_t count) {
  int top = 1;
  for (std::size_t i = 0; i < count; ++i) {
    if (!std::isfinite(values[i])) continue;
    add_extremes(values[i]);
    top = std::max(top, Parts(values[i]).exponent);
  }
  // Numbers within kMaxShift binades are integers of one unit; what lies below is added on its own.
  const int bottom = std::max(top - kMaxShift, 1);
  IntegerSums sums;
  for (std::size_t i = 0; i < count; ++i) {
    const double value = values[i];
    if (std::isfinite(value)) {
      const Parts parts(value);
      if (parts.exponent >= bottom) {
        sums.add(parts.mantissa << (parts.exponent - bottom), parts.negative);
      } else if (parts.mantissa != 0) {
        IntegerSums one;
        one.add(parts.mantissa, parts.negative);
        one.add_to(sum_, abs_sum_, square_sum_, parts.exponent - kExponentOfUnit);
      }
    } else if (std::isnan(value)) {
      ++nan_count_;
    } else {
      ++(value > 0 ? positive_inf_count_ : negative_inf_count_);
    }
  }
  sums.add_to(sum_, abs_sum_, square_sum_, bottom - kExponentOfUnit);
}

void DoubleSummary::add_extremes(double value) {
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
  abs_max_ = std::max(abs_max_, std::fabs(value));
  if (value == 0) {
    ++zero_count_;
  } else {
    abs_min_ = std::min(abs_min_, std::fabs(value));
  }
}

void DoubleSummary::write_to(Statistics& statistics) const {
  statistics.nan_count = nan_count_;
  statistics.positive_inf_count = positive_inf_count_;
  statistics.negative_inf_count = negative_inf_count_;
  statistics.zero_count = zero_count_;
  statistics.sum = sum_.exact();
  statistics.abs_sum = abs_sum_.exact();
  statistics.square_sum = square_sum_.exact();
  if (statistics.finite_count() == 0) return;
  // Adding +0 turns -0 into it: which of the two came first must not show.
  statistics.min = min_ + 0.0;
  statistics.max = max_ + 0.0;
  statistics.abs_min = zero_count_ > 0 ? 0.0 : abs_min_;
  statistics.abs_max = abs_max_;
}

template <class T>
void IntegerSummary<T>::add(const T* values, std::size_t count) {
  IntegerSums sums;
  for (std::size_t i = 0; i < count; ++i) {
    const T value = values[i];
    const std::uint64_t abs = magnitude(value);
    min_ = std::min(min_, value);
    max_ = std::max(max_, value);
    abs_min_ = std::min(abs_min_, abs);
    abs_max_ = std::max(abs_max_, abs);
    zero_count_ += value == 0 ? 1 : 0;
    sums.add(abs, value < 0);
  }
  sums.add_to(sum_, abs_sum_, square_sum_, 0);
}

template <class T>
void IntegerSummary<T>::write_to(Statistics& statistics) const {
  statistics.zero_count = zero_count_;
  statistics.sum = sum_.exact();
  statistics.abs_sum = abs_sum_.exact();
  statistics.square_sum = square_sum_.exact();
  if (statistics.count == 0) return;
  statistics.min = static_cast<double>(min_);
  statistics.max = static_cast<double>(max_);
  statistics.abs_min = static_cast<double>(abs_min_);
  statistics.abs_max = static_cast<double>(abs_max_);
}

template class IntegerSummary<std::int32_t>;
template class IntegerSummary<std::uint32_t>;
template class IntegerSummary<std::int64_t>;
template class IntegerSummary<std::uint64_t>;

}  // namespace trainwarden
