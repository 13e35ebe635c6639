// Names in checkpoints of TensorFlow and of GluonNLP.
#include "weights/foreign_names.h"

#include <array>
#include <stdexcept>

#include <ATen/core/Tensor.h>

#include "weights/gluon_params.h"
#include "weights/tensorflow_checkpoint.h"

namespace bert {
namespace {

constexpr std::array<Rewrite, 8> kFromTensorflow = {{{"cls/squad/output_weights", "qa_outputs/weight"},
                                                     {"cls/squad/output_bias", "qa_outputs/bias"},
                                                     {"cls/predictions/output_bias", "cls/predictions/bias"},
                                                     {"seq_relationship/output_", "seq_relationship/"},
                                                     {"seq_relationship/weights", "seq_relationship/weight"},
                                                     {"layer_", "layer/"},
                                                     {"/gamma", "/weight"},
                                                     {"/beta", "/bias"}}};

// As gluon-nlp's own conversion of Google's checkpoints has them, the other way round.
constexpr std::array<Rewrite, 17> kFromGluon = {
    {{"encoder.transformer_cells.", "bert.encoder.layer."},
     {".attention_cell.proj_", ".attention.self."},
     {".ffn.ffn_1.", ".intermediate.dense."},
     {".ffn.ffn_2.", ".output.dense."},
     {".ffn.layer_norm.", ".output.LayerNorm."},
     {".proj.", ".attention.output.dense."},
     {"encoder.layer_norm.", "bert.embeddings.LayerNorm."},
     {".layer_norm.", ".attention.output.LayerNorm."},
     {"encoder.position_weight", "bert.embeddings.position_embeddings.weight"},
     {"token_type_embed.0.", "bert.embeddings.token_type_embeddings."},
     {"word_embed.0.", "bert.embeddings.word_embeddings."},
     {"decoder.0.", "cls.predictions.transform.dense."},
     {"decoder.2.", "cls.predictions.transform.LayerNorm."},
     {"decoder.3.bias", "cls.predictions.bias"},
     {".gamma", ".weight"},
     {".beta", ".bias"},
     {"span_classifier.", "qa_outputs."}}};

bool is_table(const std::string& name) {
  return name.ends_with("_embeddings");
}

// Whether a name, rewritten, is one of a BERT.
bool is_known(const std::string& name) {
  for (const std::string_view start : {"bert.", "cls.", "qa_outputs.", "classifier."}) {
    if (name.starts_with(start)) return true;
  }
  return false;
}

// Names of run_classifier.py have no scope.
std::string without_scope(const std::string& name) {
  if (name == "output_weights") return "classifier/weight";
  if (name == "output_bias") return "classifier/bias";
  return name;
}

void add(TensorsByName& tensors, const std::string& name, const at::Tensor& tensor) {
  if (!tensors.emplace(name, tensor).second) throw std::runtime_error("two tensors become " + name);
}

}  // namespace

std::string rewritten(std::string name, std::span<const Rewrite> rewrites) {
  for (const Rewrite& rewrite : rewrites) {
    std::size_t at = 0;
    while ((at = name.find(rewrite.from, at)) != std::string::npos) {
      name.replace(at, rewrite.from.size(), rewrite.to);
      at += rewrite.to.size();
    }
  }
  return name;
}

TensorsByName from_tensorflow_names(const TensorsByName& tensors) {
  constexpr Rewrite kDots[] = {{"/", "."}};
  TensorsByName ours;
  for (const auto& [name, tensor] : tensors) {
    std::string text = without_scope(name);
    const bool transposed = text.ends_with("/kernel");
    if (transposed) text.replace(text.size() - 6, 6, "weight");
    if (is_table(text)) text += "/weight";
    text = rewritten(rewritten(text, kFromTensorflow), kDots);
    if (is_known(text)) add(ours, text, transposed && tensor.dim() == 2 ? tensor.t() : tensor);
  }
  return ours;
}

TensorsByName from_gluon_names(const TensorsByName& tensors) {
  TensorsByName ours;
  for (const auto& [name, tensor] : tensors) {
    // A model for spans holds the encoder as "bert".
    std::string text = name.starts_with("bert.") ? name.substr(5) : name;
    // Gluon's classifier without a prefix is that of next sentences.
    const bool of_next_sentence = name.starts_with("classifier.") && name == text;
    if (of_next_sentence) text = "cls.seq_relationship." + text.substr(11);
    if (text.starts_with("pooler.")) text = "bert.pooler.dense." + text.substr(7);
    text = rewritten(text, kFromGluon);
    if (is_known(text)) add(ours, text, tensor);
  }
  return ours;
}

}  // namespace bert
