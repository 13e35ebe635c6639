// A model written as a folder that Hugging Face loads.
#include "weights/exporting.h"

#include <nlohmann/json.hpp>

#include "files/reading.h"
#include "files/writing.h"
#include "weights/names.h"
#include "weights/safetensors.h"

namespace bert {
namespace {

constexpr std::size_t kMaxVocabularyBytes = 256u << 20;

void write_tokenizer(const std::filesystem::path& folder, const ModelConfig& config, const ExportOptions& options) {
  const char* const name = options.vocabulary.extension() == ".json" ? "tokenizer.json" : "vocab.txt";
  write_text(folder / name, read_text(options.vocabulary, kMaxVocabularyBytes));
  const nlohmann::ordered_json tokenizer = {
      {"tokenizer_class", config.type == ModelType::kBert ? "BertTokenizer" : "DistilBertTokenizer"},
      {"do_lower_case", options.lower_case},
      {"model_max_length", config.max_position_embeddings},
      {"unk_token", "[UNK]"},
      {"sep_token", "[SEP]"},
      {"pad_token", "[PAD]"},
      {"cls_token", "[CLS]"},
      {"mask_token", "[MASK]"}};
  write_text(folder / "tokenizer_config.json", tokenizer.dump(2) + "\n");
}

}  // namespace

void export_model(const std::filesystem::path& folder, const torch::nn::Module& module, const ModelConfig& config,
                  const ExportOptions& options) {
  std::filesystem::create_directories(folder);
  if (!options.vocabulary.empty()) write_tokenizer(folder, config, options);
  write_config(folder, config, options.head);
  TensorsByName tensors;
  for (const auto& parameter : module.named_parameters()) {
    tensors.emplace(file_name(config.type, parameter.key()), parameter.value().detach());
  }
  write_safetensors(folder / "model.safetensors", tensors);
}

}  // namespace bert
