#include "cli/training_means.h"

#include <array>
#include <cstdio>

#include <ATen/TensorOperators.h>

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
  std::array<char, 128> text{};
  std::snprintf(text.data(), text.size(), "loss: %.6f - accuracy: %.6f", training.loss, training.accuracy);
  std::string all = text.data();
  if (validation == nullptr) return all;
  std::snprintf(text.data(), text.size(), " - val_loss: %.6f - val_accuracy: %.6f", validation->loss,
                validation->accuracy);
  return all + text.data();
}

}  // namespace bert
