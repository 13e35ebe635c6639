#include "cli/training_means.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include "cli/shared_work.h"
#include "cli/text.h"

namespace bert {

void TrainingMeans::add(const at::Tensor& loss, std::int64_t items, const at::Tensor& hits, std::int64_t answers) {
  loss_ = loss_.defined() ? loss_ + loss.detach() : loss.detach();
  hits_ = hits_.defined() ? hits_ + hits : hits;
  items_ += items, answers_ += answers;
}

std::optional<Means> TrainingMeans::take(Group& group) {
  at::Tensor sums = at::zeros({4}, at::kDouble);
  if (items_ > 0) {
    sums = at::tensor(
        {loss_.item<double>(), hits_.item<double>(), static_cast<double>(items_), static_cast<double>(answers_)},
        at::kDouble);
  }
  *this = {};
  sums = put_together(&group, sums);
  const double* const sum = sums.data_ptr<double>();
  if (sum[2] == 0) return std::nullopt;
  return Means{.loss = sum[0] / sum[2], .accuracy = sum[1] / sum[3]};
}

std::string metrics_text(const Means& training, const Means* validation) {
  const std::string text = format("loss: %.6f - accuracy: %.6f", training.loss, training.accuracy);
  if (validation == nullptr) return text;
  return text + format(" - val_loss: %.6f - val_accuracy: %.6f", validation->loss, validation->accuracy);
}

}  // namespace bert
