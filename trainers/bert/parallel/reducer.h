// Makes the gradients of all ranks one mean, while backward still computes.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "parallel/group.h"
#include "training/named_tensors.h"

namespace bert {

struct ReducerOptions {
  std::int64_t first_bucket_bytes = std::int64_t{1} << 20;
  std::int64_t bucket_bytes = std::int64_t{25} << 20;
  // A parameter may have no part in a loss: then it counts as zeros, and where no rank used it, its gradient stays
  // undefined. Costs one small sum. false: finish() throws and names it.
  bool find_unused = false;
  bool float16 = false;  // float32 gradients travel as float16, half the bytes; sums are of that precision
  // Parameters whose sparse gradients travel as rows and stay sparse; a rank that does not use one has no rows of it.
  // Sparse gradients of others become dense.
  std::set<std::string> as_rows;
};

// Of one bucket in the last backward, in nanoseconds of the steady clock. From first to ready it fills, from ready to
// launched it waits for the buckets before it, from launched to done it travels. Behind the buckets follow the
// gradients that travelled as rows, each for itself, when backward had ended.
struct BucketTimes {
  std::int64_t bytes = 0;  // of it on one rank
  std::size_t gradients = 0;
  std::int64_t first_ns = 0;
  std::int64_t ready_ns = 0;
  std::int64_t launched_ns = 0;
  std::int64_t done_ns = 0;
  bool rows = false;
};

// For each batch: backward(), then finish(), then the optimizer. Gradients fill buckets as they are made, and a full
// bucket is sent as soon as those before it are. All gradients end equal on all ranks, bit for bit; the mean is of the
// ranks' gradients. Parameters are dense, on one device, and their hooks run in the thread that calls backward(): one
// thread for all. The parameters must not be replaced while it lives.
class Reducer {
 public:
  // Copies parameters and buffers of rank 0 to all. Throws std::runtime_error where models differ, or as
  // check_parameters().
  Reducer(Group& group, NamedTensors parameters, const NamedTensors& buffers, ReducerOptions options);
  ~Reducer();  // its hooks end
  Reducer(const Reducer&) = delete;
  Reducer& operator=(const Reducer&) = delete;

  // After backward(), on all ranks: waits, and writes the means into the gradients. After the first time the buckets
  // follow the order in which rank 0's gradients were ready. Throws PeerLost, and std::runtime_error for parameters
  // that this rank has not used (see find_unused).
  void finish();

  // While it lives, backward() only adds to this rank's gradients: for all batches of an accumulation but the last.
  class LocalScope {
   public:
    explicit LocalScope(Reducer& reducer);
    ~LocalScope();
    LocalScope(const LocalScope&) = delete;
    LocalScope& operator=(const LocalScope&) = delete;

   private:
    Reducer& reducer_;
    bool before_;
  };

  // Valid until the next backward.
  const std::vector<BucketTimes>& times() const;
  // Names by bucket, in the order in which they are sent.
  std::vector<std::vector<std::string>> plan() const;

 private:
  struct Parts;
  std::shared_ptr<Parts> parts_;  // hooks of a graph that outlives the reducer find it gone
};

}  // namespace bert
