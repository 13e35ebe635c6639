// Options as what they mean to LibTorch.
#pragma once

#include <memory>
#include <string>

#include <torch/nn/module.h>

#include "cli/train_options.h"
#include "training/optimizer.h"

namespace bert {

// "auto" is a CUDA device where LibTorch has one. Throws std::invalid_argument where "cuda" is asked for and there is none.
at::Device choose_device(const std::string& name);
at::ScalarType precision_from_name(const std::string& name);

// Threads, seeds and algorithms. Before anything else uses LibTorch.
void prepare(const TrainOptions& options);

NamedTensors named_parameters(const torch::nn::Module& module);
std::unique_ptr<Optimizer> make_optimizer(const TrainOptions& options, NamedTensors parameters);

}  // namespace bert
