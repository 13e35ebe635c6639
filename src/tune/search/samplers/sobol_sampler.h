// Points that fill the space evenly.
#pragma once

#include <memory>
#include <span>

#include "tune/search/sampler.h"

namespace trainwarden::tune {

// The Sobol sequence, scrambled by a seed: in each dimension a random lower triangular matrix over the bits and then a
// random digital shift (Matousek 1998), which keeps what is even about it and makes each point uniform. Bits: 32.
class ScrambledSobol {
 public:
  ScrambledSobol(std::size_t dimensions, std::uint64_t seed);  // dimensions: 1 to kMaxParameters
  // The point of this index, below 2^32 - 1, in [0, 1)^dimensions.
  std::vector<double> operator()(std::uint32_t index) const;

 private:
  std::size_t dimensions_;
  std::vector<std::uint32_t> rows_;    // of the matrices, 32 for each dimension, the row of the highest bit first
  std::vector<std::uint64_t> shifts_;  // 53 bits
};

// "sobol": trial 0 has the first values of the space, where there are any; all others have the points of the sequence
// in turn, without those that miss the constraints. A parameter that is not active uses its dimension up. Which point
// of the sequence a trial has stands in its note "sobol".
std::unique_ptr<TrialSampler> make_sobol_sampler();

}  // namespace trainwarden::tune
