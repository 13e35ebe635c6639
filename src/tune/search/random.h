// Random: a stream of random numbers that is the same on every machine and with every standard library.
#pragma once

#include <cstdint>
#include <span>

namespace trainwarden::tune {

// xoshiro256** of Blackman and Vigna (2018), seeded through splitmix64. One thread at a time.
class Random {
 public:
  // The stream of this number among those of a seed: of each trial, for example. Streams do not overlap in practice.
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0);

  std::uint64_t bits();
  double uniform();                         // in [0, 1), 53 bits
  double uniform(double low, double high);  // in [low, high)
  double normal();                          // mean 0, variance 1: by the inverse of its distribution
  std::uint64_t below(std::uint64_t end);   // in [0, end), without bias; 0 when end is 0
  // An index, with a probability in proportion to its weight; weights are finite and not negative, their sum positive.
  std::size_t weighted(std::span<const double> weights);

 private:
  std::uint64_t state_[4];
};

}  // namespace trainwarden::tune
