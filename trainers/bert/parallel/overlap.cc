#include "parallel/overlap.h"

#include <algorithm>

namespace bert {

Overlap overlap_of(const std::vector<BucketTimes>& buckets, std::int64_t backward_ended_ns, int ranks) {
  Overlap overlap;
  std::int64_t counted_until = 0;  // buckets are in the order in which they were sent
  for (const BucketTimes& bucket : buckets) {
    overlap.bytes += bucket.bytes;
    overlap.wire_bytes += bucket.rows ? bucket.bytes * (ranks - 1) : bucket.bytes * 2 * (ranks - 1) / ranks;
    const std::int64_t begin = std::max(bucket.launched_ns, counted_until);
    const std::int64_t end = std::max(bucket.done_ns, begin);
    overlap.travelled_ns += end - begin;
    overlap.hidden_ns += std::clamp(backward_ended_ns, begin, end) - begin;
    counted_until = end;
  }
  return overlap;
}

}  // namespace bert
