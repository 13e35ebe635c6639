// OperatorFeed: tells a hook of the operators that run, on all threads, in the steps in which it wants to know.
//
// Only then is there a callback in LibTorch; an operator costs about 300 ns more with it. One hook of a process at a
// time: another one's place is free when its steps are over, or when it is closed. Memory is not followed: the place
// where LibTorch asks for a listener belongs to its own profiler, which would take ours for its state.
#pragma once

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
    if (hook_.wants_operators() != (fed_ != nullptr)) change();
  }

 private:
  void change();
  void stop();

  Hook& hook_;
  OperatorRecorder* fed_ = nullptr;  // it outlives the hook
};

}  // namespace trainwarden::torch
