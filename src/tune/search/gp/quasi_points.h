// Points that fill a space more evenly than random ones do.
#pragma once

#include <vector>

#include "tune/search/random.h"
#include "tune/search/space.h"

namespace trainwarden::tune {

// Kronecker's sequence start + k * alpha modulo 1 with alpha_j = 1 / g^j, where g is the root of g^(d+1) = g + 1
// (Roberts 2018), from a random start.
class QuasiPoints {
 public:
  QuasiPoints(const Space& space, Random& random);
  // Constraints are not looked at.
  Point point(std::uint64_t index) const;

 private:
  const Space& space_;
  std::vector<double> start_, alpha_;
};

}  // namespace trainwarden::tune
