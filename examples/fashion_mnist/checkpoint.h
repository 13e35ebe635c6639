// What a training needs to go on in another process, in one file.
#pragma once

#include <torch/optim/optimizer.h>
#include <torch/types.h>

#include <cstdint>
#include <filesystem>

#include "net.h"

namespace fashion_mnist {

// Where a training stands between two steps.
struct Progress {
  std::int64_t steps = 0;         // that it has made
  std::int64_t epochs = 0;        // that it has finished, each with an evaluation
  std::int64_t batches = 0;       // of the epoch that has begun, that it has used
  torch::Tensor epoch_generator;  // state of the random numbers as that epoch began, from which its order comes
};

// Written under another name first: it is there whole or not at all. Both throw c10::Error or std::runtime_error.
void save_checkpoint(const Net& net, const torch::optim::Optimizer& optimizer, const Progress& progress,
                     const std::filesystem::path& file);
// Fills all three.
void load_checkpoint(Net& net, torch::optim::Optimizer& optimizer, Progress& progress,
                     const std::filesystem::path& file);

// The state of the generator that shuffles.
torch::Tensor generator_state();
void set_generator_state(const torch::Tensor& state);

}  // namespace fashion_mnist
