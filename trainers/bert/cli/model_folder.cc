#include "cli/model_folder.h"

#include <cstdio>
#include <stdexcept>

#include "cli/setup.h"
#include "weights/exporting.h"
#include "weights/loading.h"
#include "weights/names.h"

namespace bert {

namespace fs = std::filesystem;

ModelConfig trained_config(const TrainOptions& options) {
  ModelConfig config = read_config(options.model);
  if (options.layers > config.num_hidden_layers) {
    throw std::invalid_argument("--layers " + std::to_string(options.layers) + ": " + options.model.string() + " has " +
                                std::to_string(config.num_hidden_layers));
  }
  if (options.layers > 0) config.num_hidden_layers = options.layers;
  if (options.dropout) config.hidden_dropout_prob = config.attention_probs_dropout_prob = *options.dropout;
  return config;
}

Tokenizer load_tokenizer(const fs::path& folder, const ModelConfig& config, std::int64_t max_length) {
  Tokenizer tokenizer = Tokenizer::load(folder, {});
  check_fits(config, tokenizer.vocabulary(), max_length, folder.string());
  return tokenizer;
}

void put_weights(torch::nn::Module& module, const ModelConfig& config, const TrainOptions& options, OldHead old_head) {
  if (options.new_weights) {
    std::printf("all weights are new\n");
    return;
  }
  TensorsByName tensors = read_model_tensors(options.model);
  if (old_head == OldHead::kReplaced) {
    std::erase_if(tensors, [](const auto& item) { return item.first.starts_with("classifier."); });
  }
  for (const std::string& name : load_weights(module, config, tensors, options.model.string()).fresh)
    std::printf("new weights: %s\n", name.c_str());
}

void save_model(const fs::path& folder, const torch::nn::Module& module, const ModelConfig& config, Head head,
                const fs::path& origin, const Tokenizer& tokenizer) {
  const fs::path json = origin / "tokenizer.json";  // which comes first when a tokenizer is loaded
  export_model(folder, module, config,
               {.head = head,
                .vocabulary = fs::exists(json) ? json : origin / "vocab.txt",
                .lower_case = tokenizer.options().folding.lower_case});
}

}  // namespace bert
