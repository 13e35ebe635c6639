// DoubleSummary and IntegerSummary: what is gathered about components that are summed one at a time: float64, and
// integers that float32 cannot hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "data/tensor/wide_sum.h"
#include "trainwarden/statistics.h"

namespace trainwarden {

// Σx, Σ|x| and Σx² of up to 2^32 integers of up to 64 bits and a sign.
class IntegerSums {
 public:
  void add(std::uint64_t magnitude, bool negative) {
    // Without a branch: signs are random.
    const Int128 flip = -static_cast<Int128>(negative);
    sum_ += (static_cast<Int128>(magnitude) ^ flip) - flip;
    abs_sum_ += magnitude;
    const UInt128 square = UInt128{magnitude} * magnitude;
    square_low_sum_ += static_cast<std::uint64_t>(square);
    square_high_sum_ += static_cast<std::uint64_t>(square >> 64);
  }

  // As sums of integers times 2^exponent.
  template <class Wide>
  void add_to(Wide& sum, Wide& abs_sum, Wide& square_sum, int exponent) const {
    sum.add(sum_, exponent);
    abs_sum.add(abs_sum_, exponent);
    square_sum.add(square_low_sum_, 2 * exponent);
    square_sum.add(square_high_sum_, 2 * exponent + 64);
  }

 private:
  Int128 sum_ = 0;
  Int128 abs_sum_ = 0;
  Int128 square_low_sum_ = 0;
  Int128 square_high_sum_ = 0;
};

// One thread at a time, and so below.
class DoubleSummary {
 public:
  // At most 2^32 values.
  void add(const double* values, std::size_t count);
  // Everything but the number of elements (which is set before), the histogram and the hash.
  void write_to(Statistics& statistics) const;

 private:
  void add_extremes(double value);

  std::uint64_t nan_count_ = 0;
  std::uint64_t positive_inf_count_ = 0;
  std::uint64_t negative_inf_count_ = 0;
  std::uint64_t zero_count_ = 0;
  double min_ = std::numeric_limits<double>::infinity();
  double max_ = -std::numeric_limits<double>::infinity();
  double abs_min_ = std::numeric_limits<double>::infinity();  // over the elements other than zero
  double abs_max_ = 0;
  DoubleSum sum_;
  DoubleSum abs_sum_;
  DoubleSum square_sum_;
};

// T: std::int32_t, std::uint32_t, std::int64_t or std::uint64_t.
template <class T>
class IntegerSummary {
 public:
  void add(const T* values, std::size_t count);  // as above
  void write_to(Statistics& statistics) const;   // as above

 private:
  std::uint64_t zero_count_ = 0;
  T min_ = std::numeric_limits<T>::max();
  T max_ = std::numeric_limits<T>::min();
  std::uint64_t abs_min_ = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t abs_max_ = 0;
  FloatSum sum_;
  FloatSum abs_sum_;
  FloatSum square_sum_;
};

}  // namespace trainwarden
