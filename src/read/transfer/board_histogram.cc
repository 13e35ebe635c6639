#include "read/transfer/board_histogram.h"

#include <algorithm>
#include <vector>

namespace trainwarden::transfer {
namespace {

struct Bucket {
  double left = 0;
  double right = 0;
  std::uint64_t count = 0;
};

// By rising value, without overlap.
std::vector<Bucket> buckets_of(const Histogram& histogram) {
  std::vector<Bucket> buckets;
  for (const Histogram::Bin& bin : histogram.bins) {
    const double one = Histogram::lower_edge(bin.index);
    const double other = Histogram::upper_edge(bin.index);
    buckets.push_back({std::min(one, other), std::max(one, other), bin.count});
  }
  std::sort(buckets.begin(), buckets.end(), [](const Bucket& a, const Bucket& b) { return a.left < b.left; });
  return buckets;
}

}  // namespace

foreign::TfHistogram board_histogram(const Statistics& statistics) {
  foreign::TfHistogram histogram;
  histogram.min = statistics.min;
  histogram.max = statistics.max;
  histogram.num = static_cast<double>(statistics.finite_count());
  histogram.sum = statistics.sum.to_double();
  histogram.sum_squares = statistics.square_sum.to_double();
  for (const Bucket& bucket : buckets_of(statistics.histogram)) {
    const auto& limits = histogram.bucket_limit;
    const bool gap = !limits.empty() && limits.back() < bucket.left;
    if (gap) {
      histogram.bucket_limit.push_back(bucket.left);
      histogram.bucket.push_back(0);
    }
    histogram.bucket_limit.push_back(bucket.right);
    histogram.bucket.push_back(static_cast<double>(bucket.count));
  }
  return histogram;
}

}  // namespace trainwarden::transfer
