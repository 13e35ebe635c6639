// A model's config.json, as Hugging Face's: of the model types bert and distilbert.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace bert {

enum class ModelType { kBert, kDistilBert };
enum class Activation { kGelu, kGeluTanh, kRelu };
enum class Head { kNone, kSpan, kClassification, kMaskedWords };

// The names are those of BERT's config.json; DistilBERT's are translated. The defaults are BERT-base's.
struct ModelConfig {
  ModelType type = ModelType::kBert;
  std::int64_t vocab_size = 30522;
  std::int64_t hidden_size = 768;  // a multiple of num_attention_heads
  std::int64_t num_hidden_layers = 12;
  std::int64_t num_attention_heads = 12;
  std::int64_t intermediate_size = 3072;
  Activation hidden_act = Activation::kGelu;
  double hidden_dropout_prob = 0.1;
  double attention_probs_dropout_prob = 0.1;
  std::int64_t max_position_embeddings = 512;
  std::int64_t type_vocab_size = 2;  // 0 for DistilBERT, which has no token types
  double layer_norm_eps = 1e-12;
  std::int64_t pad_token_id = 0;
  double initializer_range = 0.02;
  double span_dropout_prob = 0;          // before the head for spans: DistilBERT's qa_dropout, BERT has none
  double classifier_dropout_prob = 0.1;  // before the classifier
  std::vector<std::string> labels = {"LABEL_0", "LABEL_1"};  // id2label, in the order of ids

  std::int64_t num_labels() const { return static_cast<std::int64_t>(labels.size()); }
  std::int64_t head_size() const { return hidden_size / num_attention_heads; }
};

// Reads folder/config.json. Throws std::runtime_error, which names the file and the entry: other model types, relative
// positions, decoders, sizes that do not fit together or are beyond all BERTs.
ModelConfig read_config(const std::filesystem::path& folder);
// The same of a file of any name, such as the bert_config.json of Google's checkpoints.
ModelConfig read_config_file(const std::filesystem::path& file);

// Writes folder/config.json, which Hugging Face reads as the same model with this head; that for spans has two labels
// there, whatever the config says. Whole or not at all. Throws std::runtime_error.
void write_config(const std::filesystem::path& folder, const ModelConfig& config, Head head);

// Hugging Face's name of the class: "BertForQuestionAnswering".
std::string architecture(ModelType type, Head head);

}  // namespace bert
