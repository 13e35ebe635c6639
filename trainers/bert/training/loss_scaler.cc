// Growth and backoff of the loss scale.
#include "training/loss_scaler.h"

#include <ATen/ops/scalar_tensor.h>

#include <cmath>
#include <sstream>
#include <stdexcept>

namespace bert {

LossScaler::LossScaler(const LossScaling& scaling) : scaling_(scaling) {
  if (!(scaling.first_scale > 0) || !(scaling.min_scale > 0) || !(scaling.growth > 1) ||
      !(scaling.backoff > 0 && scaling.backoff < 1) || scaling.growth_interval < 1) {
    throw std::runtime_error(
        "Loss scaling needs positive scales, a growth above 1, a backoff between 0 and 1 and an interval of 1 or "
        "more.");
  }
}

void LossScaler::update(bool finite) {
  if (finite) {
    if (++good_steps_ < scaling_.growth_interval) return;
    good_steps_ = 0;
    const double grown = scale_ * scaling_.growth;
    if (std::isfinite(static_cast<float>(grown))) scale_ = grown;
    return;
  }
  good_steps_ = 0;
  ++skipped_;
  scale_ *= scaling_.backoff;
  if (scale_ < scaling_.min_scale) {
    std::ostringstream text;
    text
        << "Gradients are not finite even with a loss scale of " << scale_ / scaling_.backoff << ", after " << skipped_
        << " skipped steps: it is not float16's range. Look for NaN in the batch or the weights, or lower the learning "
           "rate.";
    throw std::runtime_error(text.str());
  }
}

NamedTensors LossScaler::state() const {
  return {{"scale", at::scalar_tensor(scale_, at::kDouble)},
          {"good_steps", at::scalar_tensor(good_steps_, at::kLong)},
          {"skipped", at::scalar_tensor(skipped_, at::kLong)}};
}

void LossScaler::load_state(const NamedTensors& stored) {
  const NamedTensors read = state();
  copy_by_name(stored, read, "The loss scaler's state");
  const double scale = read[0].second.item<double>();
  if (!std::isfinite(scale) || scale <= 0) {
    throw std::runtime_error("The loss scaler's state has the scale " + std::to_string(scale) +
                             "; expected a positive number. Take another checkpoint.");
  }
  scale_ = scale;
  good_steps_ = read[1].second.item<std::int64_t>();
  skipped_ = read[2].second.item<std::int64_t>();
}

}  // namespace bert
