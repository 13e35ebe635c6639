// The modules of an encoder.
#include "model/layers.h"

#include <torch/nn/functional/activation.h>
#include <torch/types.h>

namespace bert {
namespace {

namespace nn = torch::nn;

nn::LayerNorm layer_norm(const ModelConfig& config) {
  return nn::LayerNorm(nn::LayerNormOptions({config.hidden_size}).eps(config.layer_norm_eps));
}

nn::Linear square(const ModelConfig& config) {
  return nn::Linear(config.hidden_size, config.hidden_size);
}

// Whether three tensors are the parts of `whole`, one after the other.
bool are_parts(const at::Tensor& whole, const at::Tensor& a, const at::Tensor& b, const at::Tensor& c) {
  if (!whole.defined() || whole.device() != a.device() || whole.scalar_type() != a.scalar_type()) return false;
  const auto* start = static_cast<const char*>(whole.data_ptr());
  return a.is_contiguous() && b.is_contiguous() && c.is_contiguous() && a.data_ptr() == start &&
         b.data_ptr() == start + a.nbytes() && c.data_ptr() == start + 2 * a.nbytes();
}

void make_parts(at::Tensor& whole, at::Tensor& a, at::Tensor& b, at::Tensor& c) {
  if (are_parts(whole, a, b, c)) return;
  const at::NoGradGuard no_grad;
  whole = at::cat({a.detach(), b.detach(), c.detach()});
  const std::int64_t rows = a.size(0);
  a.set_data(whole.narrow(0, 0, rows));
  b.set_data(whole.narrow(0, rows, rows));
  c.set_data(whole.narrow(0, 2 * rows, rows));
}

}  // namespace

kernels::Function function_of(Activation activation) {
  switch (activation) {
    case Activation::kGelu: return kernels::Function::kGelu;
    case Activation::kGeluTanh: return kernels::Function::kGeluTanh;
    case Activation::kRelu: return kernels::Function::kRelu;
  }
  return kernels::Function::kGelu;
}

EmbeddingsImpl::EmbeddingsImpl(const ModelConfig& config) : dropout_(config.hidden_dropout_prob) {
  const auto embedding = [&](const char* name, std::int64_t count) {
    return register_module(name, nn::Embedding(count, config.hidden_size));
  };
  // As Hugging Face's: padding itself learns nothing.
  const auto options = nn::EmbeddingOptions(config.vocab_size, config.hidden_size).padding_idx(config.pad_token_id);
  word_embeddings = register_module("word_embeddings", nn::Embedding(options));
  position_embeddings = embedding("position_embeddings", config.max_position_embeddings);
  if (config.type_vocab_size > 0) token_type_embeddings = embedding("token_type_embeddings", config.type_vocab_size);
  norm = register_module("LayerNorm", layer_norm(config));
}

at::Tensor EmbeddingsImpl::forward(const at::Tensor& ids, const at::Tensor& positions, const at::Tensor& types) {
  at::Tensor sum = word_embeddings(ids);
  if (!token_type_embeddings.is_empty()) {
    sum = sum + (types.defined() ? token_type_embeddings(types) : token_type_embeddings->weight[0]);
  }
  sum = norm(sum + position_embeddings(positions));
  return is_training() && dropout_ > 0 ? at::dropout(sum, dropout_, true) : sum;
}

SelfAttentionImpl::SelfAttentionImpl(const ModelConfig& config)
    : query(register_module("query", square(config))),
      key(register_module("key", square(config))),
      value(register_module("value", square(config))) {
  fuse();
}

void SelfAttentionImpl::fuse() {
  // The fused blocks are for the CPU. Elsewhere parameters keep their storage, which an optimizer knows by now.
  if (!query->weight.is_cpu()) return;
  make_parts(fused_weight, query->weight, key->weight, value->weight);
  make_parts(fused_bias, query->bias, key->bias, value->bias);
}

BlockOutputImpl::BlockOutputImpl(std::int64_t in, const ModelConfig& config)
    : dense(register_module("dense", nn::Linear(in, config.hidden_size))),
      norm(register_module("LayerNorm", layer_norm(config))),
      dropout_(config.hidden_dropout_prob) {}

ResidualWeights BlockOutputImpl::weights() const {
  return {dense->weight, dense->bias, norm->weight, norm->bias, norm->options.eps(), is_training() ? dropout_ : 0};
}

AttentionBlockImpl::AttentionBlockImpl(const ModelConfig& config)
    : self(register_module("self", SelfAttention(config))),
      output(register_module("output", BlockOutput(config.hidden_size, config))),
      heads_(config.num_attention_heads),
      dropout_(config.attention_probs_dropout_prob) {}

AttentionWeights AttentionBlockImpl::weights() {
  self->fuse();
  return {self->query->weight,         self->key->weight,  self->value->weight, self->query->bias, self->key->bias,
          self->value->bias,           self->fused_weight, self->fused_bias,    output->weights(), heads_,
          is_training() ? dropout_ : 0};
}

IntermediateImpl::IntermediateImpl(const ModelConfig& config)
    : dense(register_module("dense", nn::Linear(config.hidden_size, config.intermediate_size))) {}

LayerImpl::LayerImpl(const ModelConfig& config)
    : attention(register_module("attention", AttentionBlock(config))),
      intermediate(register_module("intermediate", Intermediate(config))),
      output(register_module("output", BlockOutput(config.intermediate_size, config))),
      function_(function_of(config.hidden_act)) {}

FeedForwardWeights LayerImpl::feed_forward() const {
  return {intermediate->dense->weight, intermediate->dense->bias, output->weights(), function_};
}

at::Tensor LayerImpl::forward_rows(const at::Tensor& hidden, const Rows& rows) {
  const AttentionWeights weights = attention->weights();
  if (can_fuse(hidden)) return feed_forward_block(attention_block(hidden, weights, rows), feed_forward());
  return plain_feed_forward_block(packed_attention_block(hidden, weights, rows), feed_forward());
}

at::Tensor LayerImpl::forward_plain(const at::Tensor& hidden, const at::Tensor& mask, AttentionSeen* seen) {
  return plain_feed_forward_block(plain_attention_block(hidden, attention->weights(), mask, seen), feed_forward());
}

EncoderImpl::EncoderImpl(const ModelConfig& config) : layer(register_module("layer", nn::ModuleList())) {
  for (std::int64_t i = 0; i < config.num_hidden_layers; ++i) layer->push_back(Layer(config));
}

PoolerImpl::PoolerImpl(const ModelConfig& config) : dense(register_module("dense", square(config))) {}

at::Tensor PoolerImpl::forward(const at::Tensor& hidden) {
  return at::tanh(dense(hidden.select(1, 0)));
}

}  // namespace bert
