// The model: BERT's encoder, small, with the head that guesses masked pieces (Devlin et al. 2018,
// https://arxiv.org/abs/1810.04805). Its modules have the names that Hugging Face's have. Three things are not BERT's,
// so that it learns within a minute: a block normalises what it gets, not what it gives (Xiong et al. 2020,
// https://arxiv.org/abs/2002.04745), positions begin as sines, and there is no dropout.
#pragma once

#include <cstdint>

#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>
#include <torch/nn/pimpl.h>

#include "trainwarden/torch.h"

namespace tiny_bert {

struct ModelSize {
  std::int64_t vocabulary = 4000;
  std::int64_t length = 64;  // pieces in a sequence, at most
  std::int64_t layers = 4;
  std::int64_t heads = 4;
  std::int64_t hidden = 128;  // a multiple of heads

  std::int64_t intermediate() const { return 4 * hidden; }
  std::int64_t head_size() const { return hidden / heads; }
};

// Of one layer, while it is evaluated. B items of T pieces, H heads of d numbers.
struct Attention {
  torch::Tensor query;          // [B, H, T, d]
  torch::Tensor key;            // [B, H, T, d]
  torch::Tensor probabilities;  // [B, H, T, T]: softmax(query keyᵀ / √d)
};

struct EmbeddingsImpl : torch::nn::Module {
  explicit EmbeddingsImpl(const ModelSize& size);
  torch::Tensor forward(const torch::Tensor& pieces, const torch::Tensor& segments);

  torch::nn::Embedding word_embeddings, position_embeddings, token_type_embeddings;
  torch::nn::LayerNorm norm;
};
TORCH_MODULE(Embeddings);

struct SelfAttentionImpl : torch::nn::Module {
  explicit SelfAttentionImpl(const ModelSize& size);
  // Also fills `seen` when there is one.
  torch::Tensor forward(const torch::Tensor& hidden, Attention* seen);

  torch::nn::Linear query, key, value;

 private:
  torch::Tensor by_head(const torch::Tensor& hidden) const;  // [B, T, H·d] to [B, H, T, d]

  const ModelSize size_;
};
TORCH_MODULE(SelfAttention);

// Each block normalises what it gets and adds what it makes of it.
struct AttentionBlockImpl : torch::nn::Module {
  explicit AttentionBlockImpl(const ModelSize& size);
  torch::Tensor forward(const torch::Tensor& hidden, Attention* seen);

  torch::nn::LayerNorm norm;
  SelfAttention self;
  torch::nn::Linear output;
};
TORCH_MODULE(AttentionBlock);

struct LayerImpl : torch::nn::Module {
  explicit LayerImpl(const ModelSize& size);
  torch::Tensor forward(const torch::Tensor& hidden, Attention* seen);

  AttentionBlock attention;
  torch::nn::LayerNorm norm;
  torch::nn::Linear intermediate, output;
};
TORCH_MODULE(Layer);

struct EncoderImpl : torch::nn::Module {
  explicit EncoderImpl(const ModelSize& size);
  torch::Tensor forward(torch::Tensor hidden, std::vector<Attention>* seen);

  torch::nn::ModuleList layer;
};
TORCH_MODULE(Encoder);

// The head: a transform, then the embedding of words the other way round.
struct GuessImpl : torch::nn::Module {
  explicit GuessImpl(const ModelSize& size);
  torch::Tensor forward(const torch::Tensor& hidden, const torch::Tensor& word_embeddings);

  torch::nn::Linear dense;
  torch::nn::LayerNorm norm;
  torch::Tensor bias;
};
TORCH_MODULE(Guess);

struct TinyBertImpl : torch::nn::Module {
  explicit TinyBertImpl(const ModelSize& size);

  // `pieces` and `segments`: int64, [B, T]. `asked`: int64, [N], the places in B·T that are guessed. Gives a score for
  // each piece of the vocabulary, [N, vocabulary]; of each layer what attention did, when `seen` is given.
  torch::Tensor forward(const torch::Tensor& pieces, const torch::Tensor& segments, const torch::Tensor& asked,
                        std::vector<Attention>* seen = nullptr);

  Embeddings embeddings;
  Encoder encoder;
  Guess predictions;
};
TORCH_MODULE(TinyBert);

}  // namespace tiny_bert
