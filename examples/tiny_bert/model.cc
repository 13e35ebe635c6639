#include "model.h"

#include <cmath>

#include <torch/nn/functional/activation.h>
#include <torch/nn/init.h>

namespace tiny_bert {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

nn::LayerNorm layer_norm(std::int64_t hidden) {
  return nn::LayerNorm(nn::LayerNormOptions({hidden}).eps(1e-12));
}

}  // namespace

EmbeddingsImpl::EmbeddingsImpl(const ModelSize& size)
    : word_embeddings(register_module("word_embeddings", nn::Embedding(size.vocabulary, size.hidden))),
      position_embeddings(register_module("position_embeddings", nn::Embedding(size.length, size.hidden))),
      token_type_embeddings(register_module("token_type_embeddings", nn::Embedding(2, size.hidden))),
      norm(register_module("LayerNorm", layer_norm(size.hidden))),
      dropout(register_module("dropout", nn::Dropout(size.dropout))) {}

Tensor EmbeddingsImpl::forward(const Tensor& pieces, const Tensor& segments) {
  const Tensor places = torch::arange(pieces.size(1), pieces.options());
  return dropout(norm(word_embeddings(pieces) + position_embeddings(places) + token_type_embeddings(segments)));
}

SelfAttentionImpl::SelfAttentionImpl(const ModelSize& size)
    : query(register_module("query", nn::Linear(size.hidden, size.hidden))),
      key(register_module("key", nn::Linear(size.hidden, size.hidden))),
      value(register_module("value", nn::Linear(size.hidden, size.hidden))),
      dropout(register_module("dropout", nn::Dropout(size.dropout))),
      size_(size) {}

Tensor SelfAttentionImpl::by_head(const Tensor& hidden) const {
  return hidden.view({hidden.size(0), hidden.size(1), size_.heads, size_.head_size()}).transpose(1, 2);
}

Tensor SelfAttentionImpl::forward(const Tensor& hidden, Attention* seen) {
  const Tensor q = by_head(query(hidden));
  const Tensor k = by_head(key(hidden));
  const Tensor scores = torch::matmul(q, k.transpose(2, 3)) / std::sqrt(static_cast<double>(size_.head_size()));
  const Tensor probabilities = torch::softmax(scores, -1);
  if (seen != nullptr) *seen = {q, k, probabilities};
  const Tensor context = torch::matmul(dropout(probabilities), by_head(value(hidden)));
  return context.transpose(1, 2).reshape(hidden.sizes());
}

BlockOutputImpl::BlockOutputImpl(std::int64_t inputs, const ModelSize& size)
    : dense(register_module("dense", nn::Linear(inputs, size.hidden))),
      norm(register_module("LayerNorm", layer_norm(size.hidden))),
      dropout(register_module("dropout", nn::Dropout(size.dropout))) {}

Tensor BlockOutputImpl::forward(const Tensor& hidden, const Tensor& block_input) {
  return norm(dropout(dense(hidden)) + block_input);
}

AttentionBlockImpl::AttentionBlockImpl(const ModelSize& size)
    : self(register_module("self", SelfAttention(size))),
      output(register_module("output", BlockOutput(size.hidden, size))) {}

Tensor AttentionBlockImpl::forward(const Tensor& hidden, Attention* seen) {
  return output(self(hidden, seen), hidden);
}

LayerImpl::LayerImpl(const ModelSize& size)
    : attention(register_module("attention", AttentionBlock(size))),
      intermediate(register_module("intermediate", nn::Linear(size.hidden, size.intermediate()))),
      output(register_module("output", BlockOutput(size.intermediate(), size))) {}

Tensor LayerImpl::forward(const Tensor& hidden, Attention* seen) {
  const Tensor attended = attention(hidden, seen);
  return output(torch::gelu(intermediate(attended)), attended);
}

EncoderImpl::EncoderImpl(const ModelSize& size) : layer(register_module("layer", nn::ModuleList())) {
  for (std::int64_t i = 0; i < size.layers; ++i) layer->push_back(Layer(size));
}

Tensor EncoderImpl::forward(Tensor hidden, std::vector<Attention>* seen) {
  for (std::size_t i = 0; i < layer->size(); ++i) {
    Attention* of_layer = seen != nullptr ? &seen->emplace_back() : nullptr;
    hidden = layer->ptr<LayerImpl>(i)->forward(hidden, of_layer);
  }
  return hidden;
}

GuessImpl::GuessImpl(const ModelSize& size)
    : dense(register_module("dense", nn::Linear(size.hidden, size.hidden))),
      norm(register_module("LayerNorm", layer_norm(size.hidden))),
      bias(register_parameter("bias", torch::zeros({size.vocabulary}))) {}

Tensor GuessImpl::forward(const Tensor& hidden, const Tensor& word_embeddings) {
  return torch::matmul(norm(torch::gelu(dense(hidden))), word_embeddings.t()) + bias;
}

TinyBertImpl::TinyBertImpl(const ModelSize& size)
    : embeddings(register_module("embeddings", Embeddings(size))),
      encoder(register_module("encoder", Encoder(size))),
      predictions(register_module("predictions", Guess(size))) {
  const torch::NoGradGuard no_grad;
  for (auto& parameter : named_parameters()) {
    const bool is_norm = parameter.key().find("LayerNorm") != std::string::npos;
    if (parameter.key().ends_with("bias")) {
      nn::init::zeros_(*parameter);
    } else if (!is_norm) {
      nn::init::normal_(*parameter, 0, 0.02);
    }
  }
}

Tensor TinyBertImpl::forward(const Tensor& pieces, const Tensor& segments, const Tensor& asked,
                             std::vector<Attention>* seen) {
  const Tensor hidden = encoder(embeddings(pieces, segments), seen);
  const Tensor guessed = hidden.flatten(0, 1).index_select(0, asked);
  return predictions(guessed, embeddings->word_embeddings->weight);
}

}  // namespace tiny_bert
