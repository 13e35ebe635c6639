// What happens to gradients between backward and step: their norm, clipping, and accumulation over batches.
#pragma once

#include <cstdint>
#include <vector>

#include "training/named_tensors.h"

namespace bert {

// The 2-norm of all numbers of `tensors` (any floating type; sparse ones count as dense) together, summed in float64 on
// a CPU and in float32 elsewhere. Infinite or NaN where a number is. The same on each run, with any number of threads.
double norm_of(const std::vector<at::Tensor>& tensors);
// The same of the gradients of `parameters`, those that have one.
double gradient_norm(const NamedTensors& parameters);

// What clipping found and what it asks for.
struct Clipping {
  double norm = 0;     // before clipping; of gradients as they would be used, so after division by a loss scale
  double factor = 1;   // that gradients are to be multiplied by: 1 where the norm is small enough
  bool finite = true;  // false: some gradient is infinite or NaN, the factor is 1, and the step should be skipped
};

// Limits a norm to max_norm: factor = min(1, max_norm / (norm + 1e-6)), as torch.nn.utils.clip_grad_norm_. max_norm 0
// does not limit. Gradients stay as they are: Optimizer::step() applies the factor, which saves a pass over them.
// Throws std::runtime_error on a negative max_norm.
Clipping clipping(double norm, double max_norm);

// Multiplies the gradients in place, for optimizers other than ours.
void scale_gradients(const NamedTensors& parameters, double factor);

// Counts the batches whose gradients are summed before a step.
class Accumulation {
 public:
  // `batches` to a step. Throws std::runtime_error below 1.
  explicit Accumulation(std::int64_t batches);

  // True where the next batch is the last before a step, whose backward is to be reduced over ranks.
  bool next_is_last() const { return counted_ + 1 >= batches_; }
  // After each backward. True: step now with factor(), then reset(). `end`: of an epoch, whatever is counted.
  bool add(bool end = false);
  // 1 / counted batches: makes their sum a mean.
  double factor() const { return 1.0 / static_cast<double>(counted_ > 0 ? counted_ : 1); }
  void reset() { counted_ = 0; }

 private:
  std::int64_t batches_;
  std::int64_t counted_ = 0;
};

}  // namespace bert
