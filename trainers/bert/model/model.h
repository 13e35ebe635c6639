// The encoder: BERT (Devlin et al. 2018, https://arxiv.org/abs/1810.04805) and DistilBERT, which is BERT without token
// types and pooler.
#pragma once

#include <vector>

#include "model/layers.h"

namespace bert {

// A batch of B items of T tokens, all on the model's device.
struct Inputs {
  at::Tensor ids;             // int64 [B, T], in the vocabulary
  at::Tensor attention_mask;  // bool or int64 [B, T]: not zero where a token is attended to; undefined: everywhere
  at::Tensor token_types;     // int64 [B, T]; undefined: all 0
};

// What happened inside, for those who look into a model. It is computed by plain operations, several times slower.
struct Seen {
  std::vector<at::Tensor> hidden;        // [B, T, H] each: of the embeddings and of each layer
  std::vector<AttentionSeen> attention;  // of each layer
};

struct ForwardOptions {
  // Nothing is computed for tokens that are not attended to, whose hidden states are 0 then. What the others have is
  // the same up to rounding, but a loss over all tokens, as BERT's for spans, is another one. On the CPU in float32
  // only; elsewhere, and together with `seen`, it changes no speed.
  bool skip_padding = false;
  Seen* seen = nullptr;
};

struct BertModelImpl : torch::nn::Module {
  // Weights are initialised as BERT's: normal with initializer_range, biases 0, norms 1; the embedding of pad_token_id
  // 0. With the pooler when asked for; DistilBERT has none.
  BertModelImpl(const ModelConfig& config, bool with_pooler);

  // Gives the hidden states [B, T, H] of the last layer. Throws std::runtime_error for shapes, dtypes and lengths that
  // do not fit, naming them, and for ids out of the vocabulary. One thread at a time.
  at::Tensor forward(const Inputs& inputs, const ForwardOptions& options = {});

  Embeddings embeddings;
  Encoder encoder;
  Pooler pooler = nullptr;  // empty without

 private:
  at::Tensor forward_rows(const Inputs& inputs, bool skip_padding);
  at::Tensor forward_plain(const Inputs& inputs, Seen* seen);
  void check(const Inputs& inputs) const;

  const ModelConfig config_;
};
TORCH_MODULE(BertModel);

// Initialises the parameters of `module` as BERT's are.
void initialise(torch::nn::Module& module, const ModelConfig& config);

}  // namespace bert
