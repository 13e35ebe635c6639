// Loss and accuracy of what was trained on since somebody asked, and the line that tells them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <ATen/core/Tensor.h>

#include "parallel/group.h"

namespace bert {

struct Means {
  double loss = 0, accuracy = 0;
};

// Sums on the model's device, so that nothing waits for it. One thread.
class TrainingMeans {
 public:
  // Sums over `items` of their losses and over `answers` of those that are right; tensors without dimensions.
  void add(const at::Tensor& loss, std::int64_t items, const at::Tensor& hits, std::int64_t answers);

  // Since the last call, of all ranks together, on each of them; nothing where none has any. Throws PeerLost.
  std::optional<Means> take(Group& group);

 private:
  at::Tensor loss_, hits_;
  std::int64_t items_ = 0, answers_ = 0;
};

// "loss: 1.432100 - accuracy: 0.421000 - val_loss: 1.392100 - val_accuracy: 0.431000", or without the second half. As
// Keras prints them, in this order and never the second half alone: a pattern "loss: (...)" finds the training's loss
// first, though it fits "val_loss: " as well.
std::string metrics_text(const Means& training, const Means* validation);

}  // namespace bert
