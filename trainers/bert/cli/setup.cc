#include "cli/setup.h"

#include <stdexcept>

#include <torch/cuda.h>
#include <torch/utils.h>

#include "training/adam.h"
#include "training/determinism.h"
#include "training/kept_memory.h"
#include "training/lamb.h"

namespace bert {

at::Device choose_device(const std::string& name, int local_rank) {
  const bool has_cuda = torch::cuda::is_available();
  if (name == "cuda" && !has_cuda) {
    throw std::invalid_argument("--device cuda: this LibTorch sees no CUDA device; --device cpu trains without one");
  }
  if (name == "cpu" || !has_cuda) return at::kCPU;
  // Where each rank is shown its own device alone, that is the first for all of them.
  const auto place = static_cast<std::size_t>(local_rank) % torch::cuda::device_count();
  return {at::kCUDA, static_cast<at::DeviceIndex>(place)};
}

at::ScalarType precision_from_name(const std::string& name) {
  if (name == "float32") return at::kFloat;
  if (name == "bfloat16") return at::kBFloat16;
  if (name == "float16") return at::kHalf;
  throw std::invalid_argument("--precision " + name + ": expected float32, bfloat16 or float16");
}

void check_precision(const at::Device& device, at::ScalarType precision) {
  if (device.is_cpu() && precision == at::kHalf) {
    throw std::invalid_argument(
        "--precision float16: a CPU computes in float32 or bfloat16; float16 is for CUDA devices");
  }
}

void check_fits(const ModelConfig& config, const Vocabulary& vocabulary, std::int64_t max_length,
                const std::string& model) {
  if (static_cast<std::int64_t>(vocabulary.size()) > config.vocab_size) {
    throw std::runtime_error(model + ": its vocabulary has " + std::to_string(vocabulary.size()) +
                             " pieces, and its config.json says " + std::to_string(config.vocab_size) +
                             "; it is the vocabulary of another model");
  }
  if (max_length > config.max_position_embeddings) {
    throw std::invalid_argument("--max-length " + std::to_string(max_length) + ": " + model + " reads at most " +
                                std::to_string(config.max_position_embeddings) + " pieces at once");
  }
}

void prepare(const TrainOptions& options) {
  keep_freed_memory();
  if (options.deterministic) {
    be_deterministic(options.threads);
  } else if (options.threads > 0) {
    torch::set_num_threads(options.threads);
  }
  seed_all(options.seed);
}

NamedTensors named_parameters(const torch::nn::Module& module) {
  NamedTensors named;
  for (const auto& parameter : module.named_parameters()) named.emplace_back(parameter.key(), parameter.value());
  return named;
}

std::unique_ptr<Optimizer> make_optimizer(const TrainOptions& options, NamedTensors parameters) {
  if (options.optimizer == "lamb") {
    LambOptions lamb;
    if (options.epsilon > 0) lamb.epsilon = options.epsilon;
    lamb.weight_decay = options.weight_decay;
    lamb.bias_correction = options.bias_correction;
    return std::make_unique<Lamb>(std::move(parameters), lamb);
  }
  AdamOptions adam;
  if (options.epsilon > 0) adam.epsilon = options.epsilon;
  adam.weight_decay = options.weight_decay;
  adam.decoupled_decay = options.optimizer == "adamw";
  adam.bias_correction = options.bias_correction;
  adam.no_decay = bert_exclusions();
  return std::make_unique<Adam>(std::move(parameters), adam);
}

}  // namespace bert
