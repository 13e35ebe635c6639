// The encoder.
#include "model/model.h"

#include <stdexcept>
#include <string>

#include <torch/nn/init.h>
#include <torch/types.h>

namespace bert {
namespace {

// 0 where `mask` is set, else so low that softmax gives 0. An item without any set attends to all of its tokens.
at::Tensor added_mask(const at::Tensor& mask, at::ScalarType type) {
  if (!mask.defined()) return {};
  const at::Tensor set = mask.ne(0);
  const at::Tensor attended = set.logical_or(set.any(1, /*keepdim=*/true).logical_not());
  const double lowest = type == at::kHalf ? -65504 : -3.3895e38;
  const at::Tensor zeros = torch::zeros(mask.sizes(), mask.options().dtype(type));
  return zeros.masked_fill(attended.logical_not(), lowest).unsqueeze(1).unsqueeze(1);
}

void check_shape(const at::Tensor& tensor, const at::Tensor& ids, const char* name) {
  if (!tensor.defined() || (tensor.sizes() == ids.sizes() && tensor.device() == ids.device())) return;
  throw std::runtime_error(std::string(name) + ": expected the shape and device of the ids");
}

void check_range(const at::Tensor& ids, std::int64_t end, const char* name) {
  if (!ids.defined() || ids.numel() == 0 || !ids.device().is_cpu()) return;  // a GPU would have to be waited for
  const auto [min, max] = at::aminmax(ids);
  if (min.item<std::int64_t>() >= 0 && max.item<std::int64_t>() < end) return;
  throw std::runtime_error(std::string(name) + ": expected numbers from 0 to " + std::to_string(end - 1) + ", found " +
                           std::to_string(min.item<std::int64_t>()) + " to " +
                           std::to_string(max.item<std::int64_t>()) +
                           ". Probably the tokens come from another vocabulary");
}

}  // namespace

void initialise(torch::nn::Module& module, const ModelConfig& config) {
  const torch::NoGradGuard no_grad;
  for (auto& parameter : module.named_parameters()) {
    if (parameter.key().ends_with("bias")) {
      torch::nn::init::zeros_(*parameter);
    } else if (parameter.key().ends_with("LayerNorm.weight")) {
      torch::nn::init::ones_(*parameter);
    } else {
      torch::nn::init::normal_(*parameter, 0, config.initializer_range);
    }
    if (parameter.key().ends_with("word_embeddings.weight")) parameter.value()[config.pad_token_id].zero_();
  }
}

BertModelImpl::BertModelImpl(const ModelConfig& config, bool with_pooler)
    : embeddings(register_module("embeddings", Embeddings(config))),
      encoder(register_module("encoder", Encoder(config))),
      config_(config) {
  if (with_pooler && config.type == ModelType::kBert) pooler = register_module("pooler", Pooler(config));
  initialise(*this, config);
}

void BertModelImpl::check(const Inputs& inputs) const {
  const at::Tensor& ids = inputs.ids;
  if (!ids.defined() || ids.dim() != 2 || ids.scalar_type() != at::kLong || ids.numel() == 0) {
    throw std::runtime_error("ids: expected an int64 tensor [items, tokens] that is not empty");
  }
  if (ids.size(1) > config_.max_position_embeddings) {
    throw std::runtime_error("ids: expected at most " + std::to_string(config_.max_position_embeddings) +
                             " tokens, which the model has positions for, found " + std::to_string(ids.size(1)) +
                             ". Cut the windows shorter");
  }
  check_shape(inputs.attention_mask, ids, "attention mask");
  check_shape(inputs.token_types, ids, "token types");
  check_range(ids, config_.vocab_size, "ids");
  if (config_.type_vocab_size > 0) check_range(inputs.token_types, config_.type_vocab_size, "token types");
}

at::Tensor BertModelImpl::forward(const Inputs& inputs, const ForwardOptions& options) {
  check(inputs);
  const at::Tensor& weight = embeddings->word_embeddings->weight;
  const bool by_rows = can_fuse(weight) || (options.skip_padding && can_pack(weight, config_.head_size()));
  if (options.seen == nullptr && by_rows) return forward_rows(inputs, options.skip_padding);
  return forward_plain(inputs, options.seen);
}

at::Tensor BertModelImpl::forward_rows(const Inputs& inputs, bool skip_padding) {
  const std::int64_t items = inputs.ids.size(0);
  const std::int64_t length = inputs.ids.size(1);
  const Rows rows = make_rows(inputs.attention_mask, items, length, skip_padding, inputs.ids.device());
  const at::Tensor positions = torch::arange(length, inputs.ids.options()).expand({items, length});
  const auto chosen = [&](const at::Tensor& of_tokens) {
    if (!of_tokens.defined()) return of_tokens;
    const at::Tensor flat = of_tokens.reshape({-1});
    return rows.tokens.defined() ? flat.index_select(0, rows.tokens) : flat;
  };
  at::Tensor hidden = embeddings(chosen(inputs.ids), chosen(positions), chosen(inputs.token_types));
  for (std::size_t i = 0; i < encoder->layer->size(); ++i) hidden = encoder->at(i).forward_rows(hidden, rows);
  if (rows.tokens.defined()) {
    const at::Tensor empty = torch::zeros({items * length, config_.hidden_size}, hidden.options());
    hidden = empty.index_copy(0, rows.tokens, hidden);
  }
  return hidden.view({items, length, config_.hidden_size});
}

at::Tensor BertModelImpl::forward_plain(const Inputs& inputs, Seen* seen) {
  const std::int64_t length = inputs.ids.size(1);
  const at::Tensor positions = torch::arange(length, inputs.ids.options()).expand(inputs.ids.sizes());
  at::Tensor hidden = embeddings(inputs.ids, positions, inputs.token_types);
  const at::Tensor mask = added_mask(inputs.attention_mask, hidden.scalar_type());
  if (seen != nullptr) *seen = {{hidden}, {}};
  for (std::size_t i = 0; i < encoder->layer->size(); ++i) {
    AttentionSeen* of_layer = seen == nullptr ? nullptr : &seen->attention.emplace_back();
    hidden = encoder->at(i).forward_plain(hidden, mask, of_layer);
    if (seen != nullptr) seen->hidden.push_back(hidden);
  }
  return hidden;
}

}  // namespace bert
