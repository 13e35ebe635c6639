// A model's folder: what a training begins with, and what it leaves.
#pragma once

#include <filesystem>

#include <torch/nn/module.h>

#include "cli/train_options.h"
#include "text/tokenizer.h"
#include "training/determinism.h"
#include "weights/config.h"

namespace bert {

// That of the folder, with the layers and the dropout that the options ask for. Throws as read_config(), and
// std::invalid_argument for more layers than the model has.
ModelConfig trained_config(const TrainOptions& options);

// The folder's tokenizer. Throws std::runtime_error and std::invalid_argument as check_fits() (setup.h).
Tokenizer load_tokenizer(const std::filesystem::path& folder, const ModelConfig& config, std::int64_t max_length);

enum class OldHead { kKept, kReplaced };

// The folder's weights for those of `module`; tells which stay as they were initialised. kReplaced: those of a
// classifier in the folder are not looked at. With options.new_weights nothing is read. Throws as load_weights().
void put_weights(torch::nn::Module& module, const ModelConfig& config, const TrainOptions& options, OldHead old_head);

// A model with weights that the seed gives, then those of the folder.
template <class Model>
Model load_model(const ModelConfig& config, const TrainOptions& options, at::Device device,
                 OldHead old_head = OldHead::kKept) {
  seed_all(options.seed);
  Model model(config);
  put_weights(*model, config, options, old_head);
  model->to(device);
  return model;
}

// A folder that Hugging Face loads, with the tokenizer of the folder `origin`. Throws as export_model().
void save_model(const std::filesystem::path& folder, const torch::nn::Module& module, const ModelConfig& config,
                Head head, const std::filesystem::path& origin, const Tokenizer& tokenizer);

}  // namespace bert
