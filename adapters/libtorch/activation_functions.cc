// ActivationFunctions: the table of operators.
#include "activation_functions.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace trainwarden::torch {
namespace {

struct Function {
  std::string_view name;
  LayerCalls::Collections input_kinds;
  LayerCalls::Collections output_kinds;
};

const std::unordered_map<std::string_view, Function>& functions() {
  static const Function relu{"relu", {"relu_inputs"}, {"relu_outputs"}};
  static const Function tanh{"tanh", {"tanh_inputs"}, {}};
  static const Function sigmoid{"sigmoid", {"sigmoid_inputs"}, {}};
  static const Function softmax{"softmax", {}, {"softmax_outputs"}};
  static const auto* const table = new std::unordered_map<std::string_view, Function>{
      {"aten::relu", relu},       {"aten::relu_", relu},       {"aten::relu6", relu},
      {"aten::relu6_", relu},     {"aten::tanh", tanh},        {"aten::tanh_", tanh},
      {"aten::sigmoid", sigmoid}, {"aten::sigmoid_", sigmoid}, {"aten::softmax", softmax},
  };
  return *table;
}

constexpr std::array<std::string_view, 5> kKinds = {"relu_inputs", "relu_outputs", "tanh_inputs", "sigmoid_inputs",
                                                    "softmax_outputs"};

}  // namespace

class ActivationFunctions::Call : public OperatorCall {
 public:
  Call(LayerCalls& calls, std::size_t number) : calls_(calls), number_(number) {}
  void end(const at::RecordFunction& function) override {
    for (const at::Tensor& output : tensors_in(function.outputs())) calls_.save_output(number_, output);
  }

 private:
  LayerCalls& calls_;
  const std::size_t number_;
};

ActivationFunctions::ActivationFunctions(Hook& hook, Filter filter)
    : hook_(hook), filter_(std::move(filter)), calls_(hook) {
  for (const std::string_view kind : kKinds) {
    const std::array collections = {kind};
    any_.push_back(hook_.declare("trainwarden/any_function/" + std::string(kind), collections));
  }
}

void ActivationFunctions::begin_step() {
  calls_.begin_step();
  if (std::any_of(any_.begin(), any_.end(), [this](TensorId id) { return hook_.wants(id); })) {
    listen();
  } else {
    stop();
  }
}

std::unique_ptr<OperatorCall> ActivationFunctions::begin_call(const at::RecordFunction& function) {
  const auto found = functions().find(function.name());
  if (found == functions().end() || !filter_()) return nullptr;
  const Function& kind = found->second;
  const std::size_t number = calls_.function(kind.name, kind.input_kinds, kind.output_kinds);
  if (!kind.input_kinds.empty()) {
    const auto inputs = tensors_in(function.inputs());
    if (!inputs.empty()) calls_.save_input(number, inputs[0]);
  }
  if (kind.output_kinds.empty()) return nullptr;
  return std::make_unique<Call>(calls_, number);
}

}  // namespace trainwarden::torch
