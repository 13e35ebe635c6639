#include "cli/training_means.h"

#include <ATen/TensorOperators.h>

#include "cli/text.h"

namespace bert {

void TrainingMeans::add(const at::Tensor& loss, std::int64_t items, const at::Tensor& hits, std::int64_t answers) {
  loss_ = loss_.defined() ? loss_ + loss.detach() : loss.detach();
  hits_ = hits_.defined() ? hits_ + hits : hits;
  items_ += items, answers_ += answers;
}

Means TrainingMeans::take() {
  const Means means{.loss = loss_.item<double>() / static_cast<double>(items_),
                    .accuracy = hits_.item<double>() / static_cast<double>(answers_)};
  *this = {};
  return means;
}

std::string metrics_text(const Means& training, const Means* validation) {
  const std::string text = format("loss: %.6f - accuracy: %.6f", training.loss, training.accuracy);
  if (validation == nullptr) return text;
  return text + format(" - val_loss: %.6f - val_accuracy: %.6f", validation->loss, validation->accuracy);
}

}  // namespace bert
