#include "model.h"

#include <cmath>

#include <torch/nn/functional/activation.h>
#include <torch/nn/init.h>

namespace tiny_bert {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr double kEmbeddingScale = 0.02;

nn::LayerNorm layer_norm(std::int64_t hidden) {
  return nn::LayerNorm(nn::LayerNormOptions({hidden}).eps(1e-12));
}

// [length, hidden]: sines and cosines in turn, each pair with a wave that is longer (Vaswani et al. 2017,
// https://arxiv.org/abs/1706.03762).
Tensor sines_of_positions(std::int64_t length, std::int64_t hidden) {
  const Tensor positions = torch::arange(length, torch::kFloat32).unsqueeze(1);
  const double step = -std::log(10000.0) / static_cast<double>(hidden);
  const Tensor angles = positions * torch::exp(torch::arange(0, hidden, 2, torch::kFloat32) * step);
  return torch::stack({angles.sin(), angles.cos()}, 2).flatten(1).slice(1, 0, hidden);
}

}  // namespace

EmbeddingsImpl::EmbeddingsImpl(const ModelSize& size)
    : word_embeddings(register_module("word_embeddings", nn::Embedding(size.vocabulary, size.hidden))),
      position_embeddings(register_module("position_embeddings", nn::Embedding(size.length, size.hidden))),
      token_type_embeddings(register_module("token_type_embeddings", nn::Embedding(2, size.hidden))),
      norm(register_module("LayerNorm", layer_norm(size.hidden))) {}

Tensor EmbeddingsImpl::forward(const Tensor& pieces, const Tensor& segments) {
  const Tensor places = torch::arange(pieces.size(1), pieces.options());
  return norm(word_embeddings(pieces) + position_embeddings(places) + token_type_embeddings(segments));
}

SelfAttentionImpl::SelfAttentionImpl(const ModelSize& size)
    : query(register_module("query", nn::Linear(size.hidden, size.hidden))),
      key(register_module("key", nn::Linear(size.hidden, size.hidden))),
      value(register_module("value", nn::Linear(size.hidden, size.hidden))),
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
  const Tensor context = torch::matmul(probabilities, by_head(value(hidden)));
  return context.transpose(1, 2).reshape(hidden.sizes());
}

AttentionBlockImpl::AttentionBlockImpl(const ModelSize& size)
    : norm(register_module("LayerNorm", layer_norm(size.hidden))),
      self(register_module("self", SelfAttention(size))),
      output(register_module("output", nn::Linear(size.hidden, size.hidden))) {}

Tensor AttentionBlockImpl::forward(const Tensor& hidden, Attention* seen) {
  return hidden + output(self(norm(hidden), seen));
}

LayerImpl::LayerImpl(const ModelSize& size)
    : attention(register_module("attention", AttentionBlock(size))),
      norm(register_module("LayerNorm", layer_norm(size.hidden))),
      intermediate(register_module("intermediate", nn::Linear(size.hidden, size.intermediate()))),
      output(register_module("output", nn::Linear(size.intermediate(), size.hidden))) {}

Tensor LayerImpl::forward(const Tensor& hidden, Attention* seen) {
  const Tensor attended = attention(hidden, seen);
  return attended + output(torch::gelu(intermediate(norm(attended))));
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
    if (parameter.key().ends_with("bias")) {
      nn::init::zeros_(*parameter);
    } else if (parameter.key().ends_with("embeddings.weight")) {
      nn::init::normal_(*parameter, 0, kEmbeddingScale);
    } else if (parameter->dim() == 2) {
      nn::init::xavier_uniform_(*parameter);
    }
  }
  embeddings->position_embeddings->weight.copy_(kEmbeddingScale * sines_of_positions(size.length, size.hidden));
}

Tensor TinyBertImpl::forward(const Tensor& pieces, const Tensor& segments, const Tensor& asked,
                             std::vector<Attention>* seen) {
  const Tensor hidden = encoder(embeddings(pieces, segments), seen);
  const Tensor guessed = hidden.flatten(0, 1).index_select(0, asked);
  return predictions(guessed, embeddings->word_embeddings->weight);
}

}  // namespace tiny_bert
