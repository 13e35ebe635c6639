// Which examples make up each batch: shuffled anew in each epoch, shared exactly over ranks, found again by a counter
// alone.
#pragma once

#include <cstdint>
#include <vector>

namespace bert {

enum class LastBatch {
  kPad,   // filled with repeats from the epoch's beginning, which are marked
  kDrop,  // left out, as are its examples in this epoch
};

struct BatchOrderOptions {
  std::int64_t examples = 0;
  std::int64_t global_batch = 1;  // examples of one step, on all ranks together
  std::int64_t ranks = 1;
  std::int64_t rank = 0;
  std::uint64_t seed = 0;
  bool shuffle = true;
  LastBatch last = LastBatch::kPad;
};

struct Batch {
  std::int64_t epoch = 0;
  std::vector<std::int64_t> examples;  // global_batch / ranks of them, rounded up
  // This rank's part: the first so many. The others are repeats, which count in no loss and no score.
  std::int64_t real = 0;
  std::int64_t real_of_all_ranks = 0;
};

// Its real examples, in batches of at most `size`; none where it has none.
std::vector<Batch> cut_real(const Batch& batch, std::int64_t size);

// All ranks take their parts of one global batch, examples that follow each other in the epoch's order: with the same
// global batch, another number of ranks sees the same examples in each step. Parts differ by one example where the
// ranks do not divide the batch. Not thread-safe: a thread that loads data has its own, and of W threads the i-th takes
// steps i, i + W, i + 2W...
class BatchOrder {
 public:
  // Throws std::runtime_error on sizes below 1, more than 2^40 examples, a batch of fewer examples than there are
  // ranks, a rank outside [0, ranks), or an epoch without a step (kDrop with fewer examples than the global batch).
  explicit BatchOrder(const BatchOrderOptions& options);

  std::int64_t steps_in_epoch() const { return steps_; }
  // Of this rank. `step` counts from 0 and goes on over epochs: it is all that a checkpoint needs.
  Batch batch(std::int64_t step);

 private:
  void shuffle_for(std::int64_t epoch);

  BatchOrderOptions options_;
  std::int64_t steps_ = 0;
  std::int64_t epoch_ = -1;  // whose order is in order_
  std::vector<std::int64_t> order_;
};

}  // namespace bert
