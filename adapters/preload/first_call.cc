// FirstCall: an operator of a layer with a parameter among its operands.
#include "first_call.h"

#include <algorithm>
#include <utility>

#include "layer_operator.h"

namespace trainwarden::torch {

FirstCall::FirstCall(std::function<bool(const at::Tensor& tensor)> is_trained, std::function<void()> on_call)
    : is_trained_(std::move(is_trained)), on_call_(std::move(on_call)) {}

void FirstCall::wait() {
  if (waits_) listen();
}

void FirstCall::give_up() {
  waits_ = false;
  stop();
}

std::unique_ptr<OperatorCall> FirstCall::begin_call(const at::RecordFunction& function) {
  if (!waits_ || layer_operator(function.name()) == LayerOperator::kNone) return nullptr;
  const auto operands = tensors_in(function.inputs());
  if (!std::any_of(operands.begin(), operands.end(), is_trained_)) return nullptr;
  waits_ = false;
  on_call_();
  return nullptr;  // those that listen from now on are asked about this operator, too
}

}  // namespace trainwarden::torch
