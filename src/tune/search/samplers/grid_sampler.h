// All combinations, each once.
#pragma once

#include <memory>

#include "tune/search/sampler.h"

namespace trainwarden::tune {

inline constexpr std::uint64_t kMaxGrid = 1'000'000;

struct GridOptions {
  // So many values at most has each number, in the middles of intervals of equal width; 0: all, which a continuum has
  // not.
  std::uint64_t positions = 0;
};

// "grid": in an order that the seed shuffles, without the points that the history has. kResourceExhausted: all are
// tried. kFailedPrecondition: a continuum without `positions`, or more than kMaxGrid combinations.
std::unique_ptr<TrialSampler> make_grid_sampler(const GridOptions& options = {});

}  // namespace trainwarden::tune
