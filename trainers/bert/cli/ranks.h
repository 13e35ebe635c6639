// This process as one of the ranks of a training, or as the only one.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/DeviceGuard.h>

#include "cli/train_options.h"
#include "parallel/group.h"

namespace bert {

// Finds the others by what torchrun, or a job, has told this process in its environment. Ranks but the first print
// nothing from then on but what is wrong, which they say on stderr.
class ThisRank {
 public:
  // Waits for the others; sets threads, seeds and algorithms before anything else uses LibTorch. Throws PeerLost,
  // std::runtime_error where the environment contradicts itself, std::invalid_argument for a device that is not there.
  explicit ThisRank(const TrainOptions& options);

  bool is_first() const { return launch_.rank == 0; }
  at::Device device() const { return device_; }
  Group& group() { return group_; }

 private:
  const Launch launch_;
  const at::Device device_;
  const c10::OptionalDeviceGuard current_;
  Group group_;
};

// The options with the global batch that they mean with so many ranks. Throws std::invalid_argument where ranks would
// be without an item.
TrainOptions with_global_batch(TrainOptions options, int ranks);

}  // namespace bert
