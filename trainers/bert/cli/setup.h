// Options as what they mean to LibTorch.
#pragma once

#include <memory>
#include <string>

#include <torch/nn/module.h>

#include "cli/train_options.h"
#include "text/vocabulary.h"
#include "training/optimizer.h"
#include "weights/config.h"

namespace bert {

// "auto" is a CUDA device where LibTorch has one: of several the one of this rank of its machine. Throws
// std::invalid_argument where "cuda" is asked for and there is none.
at::Device choose_device(const std::string& name, int local_rank = 0);
at::ScalarType precision_from_name(const std::string& name);

// Throws std::invalid_argument for float16 on a CPU, which LibTorch 1.13 has no products for.
void check_precision(const at::Device& device, at::ScalarType precision);
// Throws std::runtime_error where the vocabulary has pieces that the model does not know, and std::invalid_argument
// where windows are longer than its positions. `model` names it in messages.
void check_fits(const ModelConfig& config, const Vocabulary& vocabulary, std::int64_t max_length,
                const std::string& model);

// Threads, seeds and algorithms. Before anything else uses LibTorch.
void prepare(const TrainOptions& options);

NamedTensors named_parameters(const torch::nn::Module& module);
std::unique_ptr<Optimizer> make_optimizer(const TrainOptions& options, NamedTensors parameters);

}  // namespace bert
