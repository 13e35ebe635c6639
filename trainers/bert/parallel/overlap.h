// How much of what ranks send each other is hidden behind the backward pass.
#pragma once

#include <cstdint>
#include <vector>

#include "parallel/reducer.h"

namespace bert {

struct Overlap {
  std::int64_t bytes = 0;         // of all buckets, on one rank
  std::int64_t wire_bytes = 0;    // that a rank has to send for them
  std::int64_t travelled_ns = 0;  // time in which a bucket travelled or more
  std::int64_t hidden_ns = 0;     // the part of it before backward ended
};

// Of the buckets of one step. A sum over a ring takes 2 (ranks - 1) / ranks of its bytes (Patarasuk and Yuan 2009,
// https://doi.org/10.1016/j.jpdc.2008.09.002), rows that all gather ranks - 1 times theirs.
Overlap overlap_of(const std::vector<BucketTimes>& buckets, std::int64_t backward_ended_ns, int ranks);

}  // namespace bert
