// WideSum: a fixed-point number wide enough that nothing is ever rounded.
//
// The number lies in chunks of 32 bits, each kept in 64, so that additions need no carries until some 2^30 of them have
// been made. Source of the idea: Neal, "Fast exact summation using small and large superaccumulators" (2015).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "data/tensor/wide_integer.h"
#include "trainwarden/statistics.h"

namespace trainwarden {

inline constexpr std::size_t kMaxChunks = 144;

// Moves what is beyond 32 bits in each chunk into the next one; the last keeps the sign.
void carry_chunks(std::span<std::int64_t> chunks);
// The number Σ chunks[i]·2^(32·i + lowest_bit); lowest_bit is a multiple of 64.
ExactSum exact_from_chunks(std::span<const std::int64_t> chunks, int lowest_bit);

// Holds multiples of 2^kLowestBit (a multiple of 64) below 2^kHighestBit in magnitude. One thread at a time.
template <int kLowestBit, int kHighestBit>
class WideSum {
 public:
  // Adds units·2^exponent.
  void add(std::int64_t units, int exponent) { add_shifted(Int128{units}, exponent); }
  void add(Int128 units, int exponent) {
    add_shifted(static_cast<Int128>(static_cast<std::uint64_t>(units)), exponent);
    add_shifted(units >> 64, exponent + 64);
  }

  ExactSum exact() const { return exact_from_chunks(chunks_, kLowestBit); }

 private:
  static_assert(kLowestBit % 64 == 0);
  static constexpr std::uint32_t kAddsBetweenCarries = std::uint32_t{1} << 30;

  // |units| <= 2^64
  void add_shifted(Int128 units, int exponent) {
    const auto bit = static_cast<std::size_t>(exponent - kLowestBit);
    const Int128 shifted = units << (bit % 32);
    std::int64_t* chunk = &chunks_[bit / 32];
    chunk[0] += static_cast<std::uint32_t>(shifted);
    chunk[1] += static_cast<std::uint32_t>(shifted >> 32);
    chunk[2] += static_cast<std::int64_t>(shifted >> 64);
    if (--adds_left_ == 0) {
      carry_chunks(chunks_);
      adds_left_ = kAddsBetweenCarries;
    }
  }

  // Four more, for the bits of one addition that lie past its exponent.
  static constexpr std::size_t kChunks = (kHighestBit - kLowestBit) / 32 + 4;
  static_assert(kChunks <= kMaxChunks);

  std::array<std::int64_t, kChunks> chunks_{};
  std::uint32_t adds_left_ = kAddsBetweenCarries;
};

// For up to 2^60 numbers of these types and their squares.
using FloatSum = WideSum<-320, 320>;     // float32; 64-bit integers, too
using DoubleSum = WideSum<-2176, 2112>;  // float64

}  // namespace trainwarden
