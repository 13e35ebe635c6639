// The modules of an encoder. Names of modules and parameters are those of Hugging Face's BERT, so that
// named_parameters() of a whole model gives the names that files have.
#pragma once

#include <vector>

#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>
#include <torch/nn/pimpl.h>

#include "model/fused_blocks.h"
#include "model/plain_blocks.h"
#include "model/rows.h"
#include "weights/config.h"

namespace bert {

kernels::Function function_of(Activation activation);

struct EmbeddingsImpl : torch::nn::Module {
  explicit EmbeddingsImpl(const ModelConfig& config);

  // int64, all of one shape; `types` may be undefined (all 0, and ignored by DistilBERT). Gives [.., H].
  at::Tensor forward(const at::Tensor& ids, const at::Tensor& positions, const at::Tensor& types);

  torch::nn::Embedding word_embeddings = nullptr, position_embeddings = nullptr, token_type_embeddings = nullptr;
  torch::nn::LayerNorm norm = nullptr;

 private:
  double dropout_;
};
TORCH_MODULE(Embeddings);

// What its parameters are used for is the block's (fused_blocks.h). The three weights, and the three biases, are parts
// of one tensor each, so that one product gives queries, keys and values.
struct SelfAttentionImpl : torch::nn::Module {
  explicit SelfAttentionImpl(const ModelConfig& config);

  // Puts the parts back into one tensor, where a move to another device or a load parted them. The parameters stay the
  // same tensors, with other memory.
  void fuse();

  torch::nn::Linear query, key, value;
  at::Tensor fused_weight, fused_bias;  // [3H, H], [3H]
};
TORCH_MODULE(SelfAttention);

// A map and a layer norm, as they end both blocks.
struct BlockOutputImpl : torch::nn::Module {
  BlockOutputImpl(std::int64_t in, const ModelConfig& config);
  ResidualWeights weights() const;

  torch::nn::Linear dense;
  torch::nn::LayerNorm norm;

 private:
  double dropout_;
};
TORCH_MODULE(BlockOutput);

struct AttentionBlockImpl : torch::nn::Module {
  explicit AttentionBlockImpl(const ModelConfig& config);
  AttentionWeights weights();

  SelfAttention self;
  BlockOutput output;

 private:
  std::int64_t heads_;
  double dropout_;
};
TORCH_MODULE(AttentionBlock);

struct IntermediateImpl : torch::nn::Module {
  explicit IntermediateImpl(const ModelConfig& config);
  torch::nn::Linear dense;
};
TORCH_MODULE(Intermediate);

struct LayerImpl : torch::nn::Module {
  explicit LayerImpl(const ModelConfig& config);

  // [rows, H] to [rows, H].
  at::Tensor forward_rows(const at::Tensor& hidden, const Rows& rows);
  // [B, T, H] to [B, T, H]; mask and seen as plain_attention_block() has them.
  at::Tensor forward_plain(const at::Tensor& hidden, const at::Tensor& mask, AttentionSeen* seen);

  AttentionBlock attention;
  Intermediate intermediate;
  BlockOutput output;

 private:
  FeedForwardWeights feed_forward() const;
  kernels::Function function_;
};
TORCH_MODULE(Layer);

struct EncoderImpl : torch::nn::Module {
  explicit EncoderImpl(const ModelConfig& config);
  LayerImpl& at(std::size_t index) { return *layer->ptr<LayerImpl>(index); }

  torch::nn::ModuleList layer;
};
TORCH_MODULE(Encoder);

struct PoolerImpl : torch::nn::Module {
  explicit PoolerImpl(const ModelConfig& config);
  at::Tensor forward(const at::Tensor& hidden);  // [B, T, H] to [B, H]: of the first token

  torch::nn::Linear dense;
};
TORCH_MODULE(Pooler);

}  // namespace bert
