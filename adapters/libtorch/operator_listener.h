// OperatorListener: is asked about the operators that its thread runs, through LibTorch's RecordFunction.
//
// While anybody listens each operator costs about 200 ns more, else nothing. Operators on other threads are not seen.
//
// Translation units that see RecordFunction must be compiled with NDEBUG, as LibTorch itself is: the layout of the
// class depends on it.
#pragma once

#include <ATen/record_function.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace trainwarden::torch {

// An operator that a listener watches until it ends; what it consists of is nobody's affair.
class OperatorCall : public at::ObserverContext {
 public:
  virtual void end(const at::RecordFunction& function) = 0;
};

class OperatorListener {
 public:
  OperatorListener() = default;
  virtual ~OperatorListener();  // after stop()
  OperatorListener(const OperatorListener&) = delete;
  OperatorListener& operator=(const OperatorListener&) = delete;

  // An operator of this thread begins that is neither part of a backward pass nor of a call that is watched. Gives the
  // call when it is to be watched. The listeners of a thread are asked in turn until one gives a call. May throw; may
  // make others listen, but stop none.
  virtual std::unique_ptr<OperatorCall> begin_call(const at::RecordFunction& function) = 0;

 protected:
  // In the thread that runs the operators. Twice is as once.
  void listen();
  void stop();

 private:
  friend class OperatorStream;
  OperatorListener* next_ = nullptr;  // of the listeners of this thread
  bool listening_ = false;
};

// How many operators listeners of this thread were asked about so far.
std::uint64_t count_operators_heard();

// The tensors among the inputs or outputs of an operator, those in lists too; undefined ones are left out.
void append_tensors(const c10::IValue& value, std::vector<at::Tensor>& tensors);

template <class Values>
std::vector<at::Tensor> tensors_in(const Values& values) {
  std::vector<at::Tensor> tensors;
  for (const c10::IValue& value : values) append_tensors(value, tensors);
  return tensors;
}

}  // namespace trainwarden::torch
