// OperatorFeed: tells a hook of the operators that run, on all threads, in the steps in which it wants to know.
//
// Only then is there a callback in LibTorch; an operator costs about 200 ns more with it. One hook of a process at a
// time. Memory is not followed: the place where LibTorch asks for a listener belongs to its own profiler, which would
// take ours for its state.
//
// Translation units that see RecordFunction must be compiled with NDEBUG (operator_listener.h).
#pragma once

#include <ATen/record_function.h>

#include "trainwarden/hook.h"

namespace trainwarden::torch {

// In the thread that drives training.
class OperatorFeed {
 public:
  explicit OperatorFeed(Hook& hook) : hook_(hook) {}
  ~OperatorFeed() { stop(); }
  OperatorFeed(const OperatorFeed&) = delete;
  OperatorFeed& operator=(const OperatorFeed&) = delete;

  // To be called when a step begins.
  void follow() {
    if (hook_.wants_operators() != is_feeding()) change();
  }

 private:
  bool is_feeding() const { return callback_ != at::INVALID_CALLBACK_HANDLE; }
  void change();
  void stop();

  Hook& hook_;
  at::CallbackHandle callback_ = at::INVALID_CALLBACK_HANDLE;
};

}  // namespace trainwarden::torch
