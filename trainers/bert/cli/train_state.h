// Where a training stands, and how that goes into a checkpoint and comes back.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include <torch/nn/module.h>

#include "cli/train_options.h"
#include "parallel/group.h"
#include "training/checkpoint.h"
#include "training/loss_scaler.h"
#include "training/optimizer.h"

namespace bert {

struct Progress {
  std::int64_t steps = 0;        // made
  std::int64_t total_steps = 0;  // that it is to make
  std::int64_t evaluations = 0;  // made
};

// All that changes while a training goes on. References live as long as it does.
struct TrainState {
  torch::nn::Module& model;
  std::unique_ptr<Optimizer> optimizer;
  std::optional<LossScaler> scaler;
  Progress progress;
};

// The options that decide what a training computes, as JSON: of batches the global one, whatever ranks share it.
// `of_task`: those of its task, by name.
std::string describe(const TrainOptions& options, const std::map<std::string, std::string>& of_task);

Checkpoint to_checkpoint(const TrainState& state, const std::string& described);
// The newest checkpoint in `folder` that is whole; those that are not are named on stderr. False: there is none. Throws
// std::runtime_error where it is of a training that is described otherwise, or another one than the other ranks have.
bool restore_newest(TrainState& state, const std::filesystem::path& folder, const std::string& described, Group& group);

// One file that Python's torch.load reads: {"model": {name: tensor}, "optimizer": {...}, "step": number}. Throws
// std::runtime_error.
void save_for_python(const Checkpoint& checkpoint, const std::filesystem::path& file);

}  // namespace bert
