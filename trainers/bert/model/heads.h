// Models with a head: what is trained on top of the encoder. Module names are Hugging Face's for BERT.
#pragma once

#include "model/model.h"

namespace bert {

// Where an answer starts and ends (BertForQuestionAnswering).
struct BertForSpansImpl : torch::nn::Module {
  explicit BertForSpansImpl(const ModelConfig& config);

  // Logits [B, T, 2]: of the start and of the end. With skip_padding those of padding are -10000, which takes it out of
  // a softmax over tokens; else they are computed as all others, as BERT's own code does.
  at::Tensor forward(const Inputs& inputs, const ForwardOptions& options = {});

  BertModel bert;
  torch::nn::Linear qa_outputs;

 private:
  double dropout_;
};
TORCH_MODULE(BertForSpans);

// Which label a text has (BertForSequenceClassification and DistilBERT's, which has its own pooling).
struct BertForClassificationImpl : torch::nn::Module {
  explicit BertForClassificationImpl(const ModelConfig& config);

  // Logits [B, labels].
  at::Tensor forward(const Inputs& inputs, const ForwardOptions& options = {});

  BertModel bert;
  torch::nn::Linear pre_classifier = nullptr;  // DistilBERT's
  torch::nn::Linear classifier = nullptr;

 private:
  double dropout_;
};
TORCH_MODULE(BertForClassification);

struct TransformImpl : torch::nn::Module {
  explicit TransformImpl(const ModelConfig& config);
  at::Tensor forward(const at::Tensor& hidden);

  torch::nn::Linear dense;
  torch::nn::LayerNorm norm;

 private:
  kernels::Function function_;
};
TORCH_MODULE(Transform);

// The transform, then the word embeddings the other way round.
struct PredictionsImpl : torch::nn::Module {
  explicit PredictionsImpl(const ModelConfig& config);
  at::Tensor forward(const at::Tensor& hidden, const at::Tensor& word_embeddings);

  Transform transform;
  at::Tensor bias;  // [vocabulary]
};
TORCH_MODULE(Predictions);

struct WordHeadImpl : torch::nn::Module {
  explicit WordHeadImpl(const ModelConfig& config);
  Predictions predictions;
};
TORCH_MODULE(WordHead);

// Which words were masked (BertForMaskedLM).
struct BertForMaskedWordsImpl : torch::nn::Module {
  explicit BertForMaskedWordsImpl(const ModelConfig& config);

  // Logits [B, T, vocabulary]; or [N, vocabulary] of the places `asked` (int64 [N], in B·T), which takes far less
  // memory.
  at::Tensor forward(const Inputs& inputs, const ForwardOptions& options = {}, const at::Tensor& asked = {});

  BertModel bert;
  WordHead cls;
};
TORCH_MODULE(BertForMaskedWords);

}  // namespace bert
