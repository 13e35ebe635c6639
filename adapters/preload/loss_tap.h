// LossTap: sees losses while they are computed: what an operator of a loss function gets and gives, and what backward()
// is called on where there was none of those.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "layer_calls.h"
#include "operator_listener.h"

namespace trainwarden::torch {

class LossTap : public OperatorListener {
 public:
  using Filter = std::function<bool()>;

  // `filter` is asked at each loss: is it to be captured?
  LossTap(Hook& hook, Filter filter);

  void begin_step();  // on or off, as the step wants

  // A loss that no operator of the table gave is called `loss`.
  void backward_begins(const std::vector<at::Tensor>& losses);

  std::unique_ptr<OperatorCall> begin_call(const at::RecordFunction& function) override;

 private:
  class Call;

  void save_inputs(const at::RecordFunction& function, std::string_view name);

  Hook& hook_;
  const Filter filter_;
  LayerCalls losses_;
  bool wants_inputs_ = false;
  bool any_in_step_ = false;
};

}  // namespace trainwarden::torch
