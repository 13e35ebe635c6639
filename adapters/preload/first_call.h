// FirstCall: waits for the first call of a layer that an optimizer of the program trains. Many programs compute a loss
// before they clear any gradient; without this the activations of their first step would be missed.
#pragma once

#include <functional>
#include <memory>

#include "operator_listener.h"

namespace trainwarden::torch {

class FirstCall : public OperatorListener {
 public:
  // `is_trained`: is the tensor a parameter, or a view that begins where one does? `on_call` is called at most once, in
  // the thread that listens.
  FirstCall(std::function<bool(const at::Tensor& tensor)> is_trained, std::function<void()> on_call);

  void wait();  // in this thread
  void give_up();

  std::unique_ptr<OperatorCall> begin_call(const at::RecordFunction& function) override;

 private:
  const std::function<bool(const at::Tensor& tensor)> is_trained_;
  const std::function<void()> on_call_;
  bool waits_ = true;
};

}  // namespace trainwarden::torch
