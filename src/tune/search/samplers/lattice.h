// Lattice: a countable set of points of a space, each with its number.
#pragma once

#include <cstdint>
#include <optional>

#include "tune/search/space.h"

namespace trainwarden::tune {

// Each value of each parameter with each of the others; of a parameter that has too many values, or is a continuum,
// those at `positions` equally wide intervals of [0, 1], in their middles.
class Lattice {
 public:
  // The space outlives it. `positions` 0: a continuum is not allowed. `positions` bounds how many values any number
  // has.
  Lattice(const Space& space, std::uint64_t positions);

  // So many numbers there are: the product of the counts. 0: the space is a continuum or there are more than 2^53.
  std::uint64_t size() const { return size_; }
  // None where the number stands for a point that another one stands for too (parameters that are not active), or for
  // one that misses the constraints.
  std::optional<Point> point(std::uint64_t number) const;

 private:
  const Space* space_;
  std::vector<std::uint64_t> counts_;
  std::uint64_t size_ = 1;
};

}  // namespace trainwarden::tune
