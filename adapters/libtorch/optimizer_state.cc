// OptimizerState: the fields of LibTorch's optimizers.
#include "optimizer_state.h"

#include <torch/optim/adagrad.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/rmsprop.h>
#include <torch/optim/sgd.h>

#include <array>
#include <sstream>
#include <string>
#include <type_traits>

#include "faults.h"
#include "tensor_bridge.h"

namespace trainwarden::torch {
namespace {

namespace optim = ::torch::optim;
using Field = OptimizerState::Field;
using State = optim::OptimizerParamState;

at::Tensor as_tensor(const at::Tensor& tensor) {
  return tensor;
}
at::Tensor as_tensor(std::int64_t number) {
  return at::scalar_tensor(number, at::kLong);
}

// TW_FIELD(AdamParamState, exp_avg): the field and how to read it. LibTorch has no way to walk them.
#define TW_FIELD(type, field)                                                                            \
  Field {                                                                                                \
#field, [](const State& state) { return as_tensor(static_cast<const optim::type&>(state).field()); } \
  }

constexpr std::array kSgdFields = {TW_FIELD(SGDParamState, momentum_buffer)};
constexpr std::array kAdamFields = {TW_FIELD(AdamParamState, exp_avg), TW_FIELD(AdamParamState, exp_avg_sq),
                                    TW_FIELD(AdamParamState, max_exp_avg_sq), TW_FIELD(AdamParamState, step)};
constexpr std::array kAdamWFields = {TW_FIELD(AdamWParamState, exp_avg), TW_FIELD(AdamWParamState, exp_avg_sq),
                                     TW_FIELD(AdamWParamState, max_exp_avg_sq), TW_FIELD(AdamWParamState, step)};
constexpr std::array kRmspropFields = {TW_FIELD(RMSpropParamState, square_avg),
                                       TW_FIELD(RMSpropParamState, momentum_buffer),
                                       TW_FIELD(RMSpropParamState, grad_avg), TW_FIELD(RMSpropParamState, step)};
constexpr std::array kAdagradFields = {TW_FIELD(AdagradParamState, sum), TW_FIELD(AdagradParamState, step)};
#undef TW_FIELD

std::span<const Field> fields_of(const optim::Optimizer& optimizer) {
  if (dynamic_cast<const optim::SGD*>(&optimizer) != nullptr) return kSgdFields;
  if (dynamic_cast<const optim::Adam*>(&optimizer) != nullptr) return kAdamFields;
  if (dynamic_cast<const optim::AdamW*>(&optimizer) != nullptr) return kAdamWFields;
  if (dynamic_cast<const optim::RMSprop*>(&optimizer) != nullptr) return kRmspropFields;
  if (dynamic_cast<const optim::Adagrad*>(&optimizer) != nullptr) return kAdagradFields;
  return {};
}

// The state of a parameter, null when there is none yet. LibTorch keyed it by the printed address before 2.2 (about),
// and by the address itself since.
template <class States>
const State* find_state(const States& states, const c10::TensorImpl* parameter) {
  using Key = typename States::key_type;
  Key key;
  if constexpr (std::is_same_v<Key, std::string>) {
    std::ostringstream printed;
    printed << parameter;
    key = printed.str();
  } else {
    key = const_cast<c10::TensorImpl*>(parameter);
  }
  const auto state = states.find(key);
  return state == states.end() ? nullptr : state->second.get();
}

}  // namespace

OptimizerState::OptimizerState(Hook& hook, const optim::Optimizer& optimizer, const ModelTensors& model)
    : hook_(hook), optimizer_(optimizer), model_(model), fields_(fields_of(optimizer)) {
  if (fields_.empty()) {
    report_fault("capture optimizer state", "only SGD, Adam, AdamW, RMSprop and Adagrad of torch::optim are known");
  }
  refresh();
}

bool OptimizerState::knows(const optim::Optimizer& optimizer) {
  return !fields_of(optimizer).empty();
}

void OptimizerState::refresh() {
  constexpr std::array<std::string_view, 1> kCollections = {"optimizer_state"};
  entries_.clear();
  for (const Parameter& parameter : model_.parameters()) {
    const std::string stem = "optimizer_state/" + parameter.name + "/";
    for (const Field& field : fields_) {
      const TensorId id = hook_.declare(stem + std::string(field.name), kCollections);
      entries_.push_back({.parameter = parameter.tensor.address(), .field = &field, .id = id});
    }
  }
}

void OptimizerState::save() {
  for (const Entry& entry : entries_) {
    if (!hook_.wants(entry.id)) continue;
    const State* state = find_state(optimizer_.state(), entry.parameter);
    if (state != nullptr) save_if_wanted(hook_, entry.id, entry.field->read(*state));
  }
}

}  // namespace trainwarden::torch
