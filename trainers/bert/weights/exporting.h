// A model written as a folder that Hugging Face loads.
#pragma once

#include <filesystem>

#include <torch/nn/module.h>

#include "weights/config.h"

namespace bert {

struct ExportOptions {
  Head head = Head::kSpan;
  std::filesystem::path
      vocabulary;          // copied to vocab.txt, or a .json to tokenizer.json; empty: no tokenizer is written
  bool lower_case = true;  // what the tokenizer does
};

// Writes config.json, model.safetensors and, with a vocabulary, its copy and tokenizer_config.json into `folder`, which
// is made. The parameters of `module` have our names (names.h). Each file is there whole or not at all, and the
// weights come last. Throws std::runtime_error, and std::filesystem::filesystem_error where a folder cannot be made.
void export_model(const std::filesystem::path& folder, const torch::nn::Module& module, const ModelConfig& config,
                  const ExportOptions& options);

}  // namespace bert
