// Reading and writing of config.json.
#include "weights/config.h"

#include <array>
#include <cmath>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "files/reading.h"
#include "files/writing.h"

namespace bert {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::size_t kMaxConfigBytes = 4u << 20;
constexpr std::int64_t kMaxLabels = 100000;

// Takes values out of a config.json, and names it when one is wrong.
class Reader {
 public:
  explicit Reader(std::filesystem::path file) : file_(std::move(file)) {
    values_ = json::parse(read_text(file_, kMaxConfigBytes), nullptr, false);
    if (!values_.is_object()) fail("expected a JSON object, found something else");
  }

  [[noreturn]] void fail(const std::string& what) const { throw std::runtime_error(file_.string() + ": " + what); }

  bool has(const char* name) const { return values_.contains(name) && !values_[name].is_null(); }
  const json& operator[](const char* name) const { return values_[name]; }

  // `min` to `max`, which no BERT comes near. Required unless there is a default.
  std::int64_t size(const char* name, std::int64_t min, std::int64_t max, std::int64_t otherwise = -1) const {
    if (!has(name) && otherwise >= 0) return otherwise;
    const bool sound = has(name) && values_[name].is_number_integer();
    if (!sound || values_[name].get<std::int64_t>() < min || values_[name].get<std::int64_t>() > max) {
      fail(std::string(name) + ": expected a whole number from " + std::to_string(min) + " to " + std::to_string(max) +
           ", found " + found(name));
    }
    return values_[name].get<std::int64_t>();
  }

  // A number from 0 (inclusive) to 1.
  double part(const char* name, double otherwise) const {
    if (!has(name)) return otherwise;
    const double value = values_[name].is_number() ? values_[name].get<double>() : NAN;
    if (!(value >= 0 && value < 1)) fail(std::string(name) + ": expected a number in [0, 1), found " + found(name));
    return value;
  }

  std::string text(const char* name, const std::string& otherwise) const {
    if (!has(name)) return otherwise;
    if (!values_[name].is_string()) fail(std::string(name) + ": expected a text, found " + found(name));
    return values_[name].get<std::string>();
  }

  std::string found(const char* name) const { return has(name) ? values_[name].dump().substr(0, 60) : "nothing"; }

 private:
  std::filesystem::path file_;
  json values_;
};

Activation activation_of(const Reader& in, const char* name) {
  const std::string text = in.text(name, "gelu");
  if (text == "gelu") return Activation::kGelu;
  if (text == "gelu_new" || text == "gelu_pytorch_tanh" || text == "gelu_fast") return Activation::kGeluTanh;
  if (text == "relu") return Activation::kRelu;
  in.fail(std::string(name) + ": expected gelu, gelu_new, gelu_pytorch_tanh or relu, found " + text);
}

const char* activation_name(Activation activation) {
  switch (activation) {
    case Activation::kGelu: return "gelu";
    case Activation::kGeluTanh: return "gelu_new";
    case Activation::kRelu: return "relu";
  }
  return "gelu";
}

std::vector<std::string> labels_of(const Reader& in) {
  std::vector<std::string> labels;
  if (in.has("id2label") && in["id2label"].is_object() && !in["id2label"].empty()) {
    const json& given = in["id2label"];
    for (std::size_t id = 0; id < given.size(); ++id) {
      const auto label = given.find(std::to_string(id));
      if (label == given.end() || !label->is_string()) {
        in.fail("id2label: expected a text for each id from 0 to " + std::to_string(given.size() - 1) +
                ", found none for " + std::to_string(id));
      }
      labels.push_back(label->get<std::string>());
    }
    return labels;
  }
  const std::int64_t count = in.size("num_labels", 1, kMaxLabels, 2);
  for (std::int64_t id = 0; id < count; ++id) labels.push_back("LABEL_" + std::to_string(id));
  return labels;
}

void check(const Reader& in, const ModelConfig& config) {
  if (config.hidden_size % config.num_attention_heads != 0) {
    in.fail("expected a hidden size that is a multiple of the number of heads, found " +
            std::to_string(config.hidden_size) + " and " + std::to_string(config.num_attention_heads));
  }
  if (config.pad_token_id >= config.vocab_size) in.fail("expected a pad_token_id in the vocabulary");
  const std::string positions = in.text("position_embedding_type", "absolute");
  if (positions != "absolute") in.fail("position_embedding_type: expected absolute, found " + positions);
  for (const char* name : {"is_decoder", "add_cross_attention", "is_encoder_decoder"}) {
    if (in.has(name) && in[name] != false) in.fail(std::string(name) + ": expected an encoder, found a decoder");
  }
  if (in.has("tie_word_embeddings") && in["tie_word_embeddings"] == false) {
    in.fail("tie_word_embeddings: expected true, for the head for masked words shares the embeddings, found false");
  }
}

void read_bert(const Reader& in, ModelConfig& config) {
  config.hidden_size = in.size("hidden_size", 1, 1 << 16);
  config.num_hidden_layers = in.size("num_hidden_layers", 1, 1000);
  config.num_attention_heads = in.size("num_attention_heads", 1, 1024);
  config.intermediate_size = in.size("intermediate_size", 1, 1 << 18);
  config.hidden_act = activation_of(in, "hidden_act");
  config.hidden_dropout_prob = in.part("hidden_dropout_prob", 0.1);
  config.attention_probs_dropout_prob = in.part("attention_probs_dropout_prob", 0.1);
  config.type_vocab_size = in.size("type_vocab_size", 1, 1 << 16, 2);
  config.layer_norm_eps = in.part("layer_norm_eps", 1e-12);
  config.span_dropout_prob = 0;
  config.classifier_dropout_prob = in.part("classifier_dropout", config.hidden_dropout_prob);
}

void read_distilbert(const Reader& in, ModelConfig& config) {
  config.hidden_size = in.size("dim", 1, 1 << 16, 768);
  config.num_hidden_layers = in.size("n_layers", 1, 1000, 6);
  config.num_attention_heads = in.size("n_heads", 1, 1024, 12);
  config.intermediate_size = in.size("hidden_dim", 1, 1 << 18, 3072);
  config.hidden_act = activation_of(in, "activation");
  config.hidden_dropout_prob = in.part("dropout", 0.1);
  config.attention_probs_dropout_prob = in.part("attention_dropout", 0.1);
  config.type_vocab_size = 0;
  config.layer_norm_eps = 1e-12;  // a constant in Hugging Face's code
  config.span_dropout_prob = in.part("qa_dropout", 0.1);
  config.classifier_dropout_prob = in.part("seq_classif_dropout", 0.2);
}

void write_sizes(ordered_json& out, const ModelConfig& config) {
  const bool distilled = config.type == ModelType::kDistilBert;
  out[distilled ? "dim" : "hidden_size"] = config.hidden_size;
  out[distilled ? "n_layers" : "num_hidden_layers"] = config.num_hidden_layers;
  out[distilled ? "n_heads" : "num_attention_heads"] = config.num_attention_heads;
  out[distilled ? "hidden_dim" : "intermediate_size"] = config.intermediate_size;
  out[distilled ? "activation" : "hidden_act"] = activation_name(config.hidden_act);
  out[distilled ? "dropout" : "hidden_dropout_prob"] = config.hidden_dropout_prob;
  out[distilled ? "attention_dropout" : "attention_probs_dropout_prob"] = config.attention_probs_dropout_prob;
  if (distilled) {
    out["qa_dropout"] = config.span_dropout_prob;
    out["seq_classif_dropout"] = config.classifier_dropout_prob;
    out["sinusoidal_pos_embds"] = false;
  } else {
    out["type_vocab_size"] = config.type_vocab_size;
    out["layer_norm_eps"] = config.layer_norm_eps;
    out["classifier_dropout"] = config.classifier_dropout_prob;
    out["position_embedding_type"] = "absolute";
  }
  out["vocab_size"] = config.vocab_size;
  out["max_position_embeddings"] = config.max_position_embeddings;
  out["pad_token_id"] = config.pad_token_id;
  out["initializer_range"] = config.initializer_range;
}

}  // namespace

std::string architecture(ModelType type, Head head) {
  constexpr std::array<const char*, 4> kSuffixes = {"Model", "ForQuestionAnswering", "ForSequenceClassification",
                                                    "ForMaskedLM"};
  return (type == ModelType::kBert ? "Bert" : "DistilBert") + std::string(kSuffixes[static_cast<std::size_t>(head)]);
}

ModelConfig read_config(const std::filesystem::path& folder) {
  return read_config_file(folder / "config.json");
}

ModelConfig read_config_file(const std::filesystem::path& file) {
  const Reader in(file);
  const std::string type = in.text("model_type", "bert");
  if (type != "bert" && type != "distilbert") {
    in.fail("model_type: expected bert or distilbert, found " + type + ". Other models have other layers");
  }
  ModelConfig config;
  config.type = type == "bert" ? ModelType::kBert : ModelType::kDistilBert;
  config.vocab_size = in.size("vocab_size", 1, 10000000);
  config.max_position_embeddings = in.size("max_position_embeddings", 1, 1 << 20);
  config.pad_token_id = in.size("pad_token_id", 0, 10000000, 0);
  config.initializer_range = in.part("initializer_range", 0.02);
  config.labels = labels_of(in);
  if (config.type == ModelType::kBert) {
    read_bert(in, config);
  } else {
    read_distilbert(in, config);
  }
  check(in, config);
  return config;
}

void write_config(const std::filesystem::path& folder, const ModelConfig& config, Head head) {
  ordered_json out;
  out["architectures"] = {architecture(config.type, head)};
  out["model_type"] = config.type == ModelType::kBert ? "bert" : "distilbert";
  write_sizes(out, config);
  // Hugging Face takes the start and the end of a span for two labels.
  const std::vector<std::string> labels = head == Head::kSpan ? ModelConfig().labels : config.labels;
  out["id2label"] = ordered_json::object();
  out["label2id"] = ordered_json::object();
  for (std::size_t id = 0; id < labels.size(); ++id) {
    out["id2label"][std::to_string(id)] = labels[id];
    out["label2id"][labels[id]] = id;
  }
  out["torch_dtype"] = "float32";
  write_text(folder / "config.json", out.dump(2) + "\n");
}

}  // namespace bert
