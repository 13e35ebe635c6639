// Weights of a file put into a module.
#pragma once

#include <string>
#include <vector>

#include <torch/nn/module.h>

#include "weights/config.h"
#include "weights/safetensors.h"

namespace bert {

struct LoadReport {
  std::vector<std::string> loaded;  // our names
  std::vector<std::string> fresh;   // our names: heads that the file lacks, which stay as they were initialised
  std::vector<std::string> unused;  // the file's names: what the module has no place for
};

// Copies `tensors` into the parameters of `module`, whose names are ours (names.h); dtypes are converted. `source` is
// what errors call the tensors. Throws std::runtime_error when a weight of the encoder is missing, when a shape
// differs, and when two tensors are the same weight; the module is then as before.
LoadReport load_weights(torch::nn::Module& module, const ModelConfig& config, const TensorsByName& tensors,
                        const std::string& source);

}  // namespace bert
