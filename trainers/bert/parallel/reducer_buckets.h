// Buckets of gradients: filled one gradient at a time, sent in their order.
#pragma once

#include <cstdint>
#include <vector>

#include "parallel/group.h"
#include "parallel/reducer.h"

namespace bert {

// Not thread-safe.
class ReducerBuckets {
 public:
  // `parameters`: what gradients belong to; `plan`: places in it by bucket.
  ReducerBuckets(Group& group, const std::vector<at::Tensor>& parameters, std::vector<std::vector<std::size_t>> plan,
                 bool float16);

  // A gradient, dense and of its parameter's shape, or an undefined one, which counts as zeros. Divided by the ranks.
  // Sends all buckets that are full up to the first that is not.
  void add(std::size_t place, const at::Tensor& gradient);
  // Of all buckets, which must be full; PeerLost.
  void wait();
  // The mean, in the type of the parameter and its shape; after wait(), until the next add().
  at::Tensor mean(std::size_t place) const;

  const std::vector<BucketTimes>& times() const { return times_; }
  const std::vector<std::vector<std::size_t>>& plan() const { return plan_; }

 private:
  struct Slice {
    std::size_t bucket = 0;
    std::int64_t begin = 0;
  };

  Group& group_;
  std::vector<at::Tensor> parameters_;
  std::vector<std::vector<std::size_t>> plan_;
  std::vector<at::Tensor> flat_;  // of each bucket
  std::vector<Slice> slices_;     // of each parameter
  std::vector<std::size_t> filled_;
  std::vector<Pending> pending_;
  std::vector<BucketTimes> times_;
  std::size_t next_ = 0;  // bucket to send
};

}  // namespace bert
