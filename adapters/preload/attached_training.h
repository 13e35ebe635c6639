// AttachedTraining: what this process trains, from the first sign of it to the end of the process.
//
// The hook opens when a training begins: at the first call of a layer that an optimizer trains, or the first
// zero_grad() or step(). The thread that did it is the one that trains; what others do is not seen.
#pragma once

#include <torch/optim/optimizer.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "first_call.h"
#include "known_optimizers.h"
#include "training_capture.h"

namespace trainwarden::torch {

// Calls come from any thread and never throw.
class AttachedTraining {
 public:
  static AttachedTraining& instance();  // never destroyed

  void module_seen(const ::torch::nn::Module& module);
  void training_set(const ::torch::nn::Module& module);
  void backward_begins(const std::vector<at::Tensor>& losses);
  void backward_has_ended();
  void optimizer_seen(const ::torch::optim::Optimizer& optimizer);
  void gradients_cleared(const ::torch::optim::Optimizer& optimizer);
  void gradients_are_cleared();
  void step_begins(const ::torch::optim::Optimizer& optimizer, bool computes_gradients);
  void step_has_ended(const ::torch::optim::Optimizer& optimizer);

  void process_exits();
  void child_after_fork() { off_ = true; }

 private:
  AttachedTraining();

  bool open();
  bool is_trained(const at::Tensor& tensor);
  // Calls `action` with the capture when the calling thread is the one that trains.
  template <class Action>
  void with_capture(const char* doing, bool begins_training, Action&& action);
  void stop_program();

  std::atomic<bool> off_ = false;  // for good
  std::mutex mutex_;               // held while one of the calls is worked on
  KnownOptimizers optimizers_;
  FirstCall first_call_;
  std::atomic<std::thread::id> waiting_thread_;  // that waits for the first call
  std::thread::id training_thread_;
  std::unique_ptr<TrainingCapture> capture_;
};

}  // namespace trainwarden::torch
