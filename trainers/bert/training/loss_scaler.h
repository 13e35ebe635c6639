// Loss scaling for float16, whose gradients would be rounded to 0; bfloat16 has the range of float32 and needs none.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "training/named_tensors.h"

namespace bert {

// Micikevicius et al. 2017, https://arxiv.org/abs/1710.03740; the numbers are those of torch.cuda.amp.GradScaler.
struct LossScaling {
  double first_scale = 65536;
  double growth = 2;
  double backoff = 0.5;
  std::int64_t growth_interval = 2000;  // steps without overflow before it grows
  double min_scale = 1.0 / 65536;       // gradients that overflow even so have another cause
};

// A step: backward of scaled(loss); norm = gradient_norm() · factor(); where that is finite Optimizer::step() with
// factor() times the clipping's; then update(finite). All ranks see the same gradients, so their scales stay equal.
class LossScaler {
 public:
  LossScaler() = default;
  // Throws std::runtime_error on a scale or growth that is not greater than 0 or 1, or a backoff outside (0, 1).
  explicit LossScaler(const LossScaling& scaling);

  at::Tensor scaled(const at::Tensor& loss) const { return loss * scale_; }
  double scale() const { return scale_; }
  double factor() const { return 1 / scale_; }  // makes gradients what they are
  std::int64_t skipped() const { return skipped_; }

  // After each step that was made (finite) or skipped. Throws std::runtime_error where the scale would fall below its
  // minimum: then the loss or the data is not finite.
  void update(bool finite);

  // "scale" (float64), "good_steps" and "skipped" (int64), without dimensions.
  NamedTensors state() const;
  // Throws as copy_by_name(), and on a scale that is not positive and finite.
  void load_state(const NamedTensors& state);

 private:
  LossScaling scaling_;
  double scale_ = scaling_.first_scale;
  std::int64_t good_steps_ = 0;
  std::int64_t skipped_ = 0;
};

}  // namespace bert
