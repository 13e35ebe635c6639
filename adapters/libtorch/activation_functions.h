// ActivationFunctions: sees the operators that are activation functions (relu, tanh, sigmoid, softmax), which have no
// parameters that name their layer: `relu_input_0`, `relu_output_0`, ... in the order of their calls within a step.
//
// Listens only in steps that want the collections of these kinds, not for the sake of `inputs` or `outputs`. Belongs to
// one thread; operators on other threads are not seen.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "layer_calls.h"
#include "operator_listener.h"

namespace trainwarden::torch {

class ActivationFunctions : public OperatorListener {
 public:
  using Filter = std::function<bool()>;

  // `filter` is asked at each call: is it to be captured?
  ActivationFunctions(Hook& hook, Filter filter);

  void begin_step();  // on or off, as the step wants

  std::unique_ptr<OperatorCall> begin_call(const at::RecordFunction& function) override;

 private:
  class Call;

  Hook& hook_;
  const Filter filter_;
  LayerCalls calls_;
  std::vector<TensorId> any_;  // one stands for each collection: wanted when the whole collection is
};

}  // namespace trainwarden::torch
