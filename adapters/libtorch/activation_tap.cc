// ActivationTap: which operators are calls of layers, and what they take and give.
#include "activation_tap.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace trainwarden::torch {
namespace {

bool is_embedding(std::string_view type) {
  return type.starts_with("Embedding");
}
bool is_convolution(std::string_view type) {
  return type.starts_with("Conv") && !type.starts_with("ConvTranspose");
}

}  // namespace

// The call that an operator is.
class ActivationTap::Call : public OperatorCall {
 public:
  Call(ActivationTap& tap, std::size_t layer) : tap_(tap), layer_(layer) {}
  void end(const at::RecordFunction& function) override {
    tap_.held_layer_ = layer_;
    tap_.held_outputs_ = tensors_in(function.outputs());
  }

 private:
  ActivationTap& tap_;
  const std::size_t layer_;
};

ActivationTap::ActivationTap(LayerCalls& calls, const ::torch::nn::Module& module, std::string prefix,
                             CallFilter filter)
    : calls_(calls), module_(module), prefix_(std::move(prefix)), filter_(std::move(filter)) {
  refresh();
}

void ActivationTap::refresh() {
  layers_.clear();
  bool convolution_seen = false;
  owners_.emplace(module_, [&](const std::string& path, const std::string& type) {
    LayerCalls::Collections input_kinds;
    if (is_embedding(type)) input_kinds.push_back("embedding_inputs");
    if (is_convolution(type) && !std::exchange(convolution_seen, true)) input_kinds.push_back("image_inputs");
    return layers_.emplace_back(calls_.layer(prefix_ + path, input_kinds));
  });
}

bool ActivationTap::is_wanted() {
  return std::any_of(layers_.begin(), layers_.end(), [this](std::size_t layer) { return calls_.any_wanted(layer); });
}

void ActivationTap::begin_step() {
  settle();
  if (is_wanted()) {
    switch_on();
  } else {
    stop();
  }
}

void ActivationTap::switch_on() {
  if (owners_->have_moved()) refresh();
  listen();
}

void ActivationTap::settle() {
  for (const at::Tensor& output : std::exchange(held_outputs_, {})) calls_.save_output(held_layer_, output);
}

std::unique_ptr<OperatorCall> ActivationTap::begin_call(const at::RecordFunction& function) {
  const LayerOperator kind = layer_operator(function.name());
  const auto operands = kind == LayerOperator::kNone ? std::vector<at::Tensor>() : tensors_in(function.inputs());
  if (kind == LayerOperator::kAddBias && completes_held_call(operands)) {
    return std::make_unique<Call>(*this, held_layer_);
  }
  settle();
  if (kind == LayerOperator::kNone || kind == LayerOperator::kAddBias) return nullptr;
  const auto layer = owners_->layer_of(operands, kind);
  if (!layer || (filter_ && !filter_(*layer))) return nullptr;
  for (const at::Tensor& operand : operands) {
    if (!owners_->owns(*layer, operand)) calls_.save_input(*layer, operand);
  }
  return std::make_unique<Call>(*this, *layer);
}

bool ActivationTap::completes_held_call(const std::vector<at::Tensor>& operands) const {
  return held_outputs_.size() == 1 && operands.size() == 2 && operands[0].is_same(held_outputs_[0]) &&
         owners_->owns(held_layer_, operands[1]);
}

}  // namespace trainwarden::torch
