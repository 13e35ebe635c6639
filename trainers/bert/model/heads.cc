// Models with a head.
#include "model/heads.h"

#include <torch/types.h>

namespace bert {
namespace {

namespace nn = torch::nn;

constexpr double kNoLogit = -10000;

at::Tensor drop(const at::Tensor& in, double probability, bool training) {
  return training && probability > 0 ? at::dropout(in, probability, true) : in;
}

}  // namespace

BertForSpansImpl::BertForSpansImpl(const ModelConfig& config)
    : bert(register_module("bert", BertModel(config, false))),
      qa_outputs(register_module("qa_outputs", nn::Linear(config.hidden_size, 2))),
      dropout_(config.span_dropout_prob) {
  initialise(*qa_outputs, config);
}

at::Tensor BertForSpansImpl::forward(const Inputs& inputs, const ForwardOptions& options) {
  const at::Tensor logits = qa_outputs(drop(bert(inputs, options), dropout_, is_training()));
  if (!options.skip_padding || !inputs.attention_mask.defined()) return logits;
  return logits.masked_fill(inputs.attention_mask.eq(0).unsqueeze(2), kNoLogit);
}

BertForClassificationImpl::BertForClassificationImpl(const ModelConfig& config)
    : bert(register_module("bert", BertModel(config, true))), dropout_(config.classifier_dropout_prob) {
  if (config.type == ModelType::kDistilBert) {
    pre_classifier = register_module("pre_classifier", nn::Linear(config.hidden_size, config.hidden_size));
    initialise(*pre_classifier, config);
  }
  classifier = register_module("classifier", nn::Linear(config.hidden_size, config.num_labels()));
  initialise(*classifier, config);
}

at::Tensor BertForClassificationImpl::forward(const Inputs& inputs, const ForwardOptions& options) {
  const at::Tensor hidden = bert(inputs, options);
  const at::Tensor pooled =
      pre_classifier.is_empty() ? bert->pooler(hidden) : at::relu(pre_classifier(hidden.select(1, 0)));
  return classifier(drop(pooled, dropout_, is_training()));
}

TransformImpl::TransformImpl(const ModelConfig& config)
    : dense(register_module("dense", nn::Linear(config.hidden_size, config.hidden_size))),
      norm(register_module("LayerNorm",
                           nn::LayerNorm(nn::LayerNormOptions({config.hidden_size}).eps(config.layer_norm_eps)))),
      function_(function_of(config.hidden_act)) {}

at::Tensor TransformImpl::forward(const at::Tensor& hidden) {
  return norm(activate(dense(hidden), function_));
}

PredictionsImpl::PredictionsImpl(const ModelConfig& config)
    : transform(register_module("transform", Transform(config))),
      bias(register_parameter("bias", torch::zeros({config.vocab_size}))) {}

at::Tensor PredictionsImpl::forward(const at::Tensor& hidden, const at::Tensor& word_embeddings) {
  return at::linear(transform(hidden), word_embeddings, bias);
}

WordHeadImpl::WordHeadImpl(const ModelConfig& config)
    : predictions(register_module("predictions", Predictions(config))) {}

BertForMaskedWordsImpl::BertForMaskedWordsImpl(const ModelConfig& config)
    : bert(register_module("bert", BertModel(config, false))), cls(register_module("cls", WordHead(config))) {
  initialise(*cls, config);
}

at::Tensor BertForMaskedWordsImpl::forward(const Inputs& inputs, const ForwardOptions& options,
                                           const at::Tensor& asked) {
  at::Tensor hidden = bert(inputs, options);
  if (asked.defined()) hidden = hidden.flatten(0, 1).index_select(0, asked);
  return cls->predictions(hidden, bert->embeddings->word_embeddings->weight);
}

}  // namespace bert
