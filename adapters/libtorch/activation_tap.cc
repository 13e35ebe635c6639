// ActivationTap: which operators are calls of layers, and what they take and give.
#include "activation_tap.h"

#include <algorithm>
#include <utility>

#include "faults.h"

namespace trainwarden::torch {
namespace {

void append_tensors(const c10::IValue& value, std::vector<at::Tensor>& tensors) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) tensors.push_back(value.toTensor());
  } else if (value.isTensorList()) {
    for (const at::Tensor& tensor : value.toTensorVector()) {
      if (tensor.defined()) tensors.push_back(tensor);
    }
  }
}

template <class Values>
std::vector<at::Tensor> tensors_in(const Values& values) {
  std::vector<at::Tensor> tensors;
  for (const c10::IValue& value : values) append_tensors(value, tensors);
  return tensors;
}

}  // namespace

ActivationTap::ActivationTap(LayerCalls& calls, const ::torch::nn::Module& module, std::string prefix)
    : calls_(calls), module_(module), prefix_(std::move(prefix)) {
  refresh();
}

ActivationTap::~ActivationTap() {
  switch_off();
}

ActivationTap::ThreadState& ActivationTap::this_thread() {
  thread_local ThreadState state;
  return state;
}

void ActivationTap::refresh() {
  layers_.clear();
  owners_.emplace(module_,
                  [this](const std::string& path) { return layers_.emplace_back(calls_.layer(prefix_ + path)); });
}

void ActivationTap::begin_step() {
  settle();
  const bool wanted =
      std::any_of(layers_.begin(), layers_.end(), [this](std::size_t layer) { return calls_.any_wanted(layer); });
  if (!wanted) return switch_off();
  refresh();  // parameters may lie elsewhere since the last time
  switch_on();
}

void ActivationTap::switch_on() {
  ThreadState& thread = this_thread();
  if (std::find(thread.taps.begin(), thread.taps.end(), this) != thread.taps.end()) return;
  thread.taps.push_back(this);
  if (thread.taps.size() > 1) return;
  at::RecordFunctionCallback callback(on_start, on_end);
  callback.needsInputs(true).needsOutputs(true).scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION});
  thread.callback = at::addThreadLocalCallback(callback);
}

void ActivationTap::switch_off() {
  ThreadState& thread = this_thread();
  const bool was_on = std::erase(thread.taps, this) > 0;
  if (was_on && thread.taps.empty()) at::removeCallback(thread.callback);
}

void ActivationTap::settle() {
  for (const at::Tensor& output : std::exchange(held_outputs_, {})) calls_.save_output(held_layer_, output);
}

std::unique_ptr<at::ObserverContext> ActivationTap::on_start(const at::RecordFunction& function) {
  ThreadState& thread = this_thread();
  if (function.scope() == at::RecordScope::BACKWARD_FUNCTION) {
    ++thread.backward_depth;
    return nullptr;
  }
  if (thread.in_call || thread.backward_depth > 0) return nullptr;
  std::unique_ptr<Call> call;
  without_throwing("capture the inputs of a layer", [&] {
    for (ActivationTap* tap : thread.taps) {
      if (call == nullptr) call = tap->begin_call(function);
    }
  });
  thread.in_call = call != nullptr;
  return call;
}

void ActivationTap::on_end(const at::RecordFunction& function, at::ObserverContext* context) {
  ThreadState& thread = this_thread();
  if (function.scope() == at::RecordScope::BACKWARD_FUNCTION) {
    --thread.backward_depth;
    return;
  }
  if (context == nullptr) return;
  thread.in_call = false;
  const Call& call = static_cast<const Call&>(*context);
  without_throwing("capture the outputs of a layer", [&] {
    call.tap.held_layer_ = call.layer;
    call.tap.held_outputs_ = tensors_in(function.outputs());
  });
}

std::unique_ptr<ActivationTap::Call> ActivationTap::begin_call(const at::RecordFunction& function) {
  const LayerOperator kind = layer_operator(function.name());
  const auto operands = kind == LayerOperator::kNone ? std::vector<at::Tensor>() : tensors_in(function.inputs());
  if (kind == LayerOperator::kAddBias && completes_held_call(operands)) {
    return std::make_unique<Call>(*this, held_layer_);
  }
  settle();
  if (kind == LayerOperator::kNone || kind == LayerOperator::kAddBias) return nullptr;
  const auto layer = owners_->layer_of(operands, kind);
  if (!layer) return nullptr;
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
