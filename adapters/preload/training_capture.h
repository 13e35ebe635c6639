// TrainingCapture: an untouched training and its hook: which step, which mode, and what is saved when.
//
// Gradients are saved when an optimizer is about to use them, parameters and buffers when the step ends, losses and
// activations as they are computed. A model's train() and eval() give the mode. In mode eval a step ends where the
// layer that was called first is called again. In mode train what is computed without gradients is not captured: it is
// the program's own look at its model.
//
// Belongs to the thread that trains.
#pragma once

#include <torch/optim/optimizer.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "activation_functions.h"
#include "known_optimizers.h"
#include "loss_tap.h"
#include "operator_feed.h"
#include "step_phases.h"
#include "training_signals.h"
#include "trainwarden/hook.h"
#include "watched_models.h"

namespace trainwarden::torch {

class TrainingCapture {
 public:
  TrainingCapture(std::unique_ptr<Hook> hook, KnownOptimizers& optimizers);

  void backward_begins(const std::vector<at::Tensor>& losses);
  void gradients_cleared(const ::torch::optim::Optimizer& optimizer);
  // `computes_gradients`: step() calls a closure that does.
  void step_begins(const ::torch::optim::Optimizer& optimizer, bool computes_gradients);
  void step_has_ended(const ::torch::optim::Optimizer& optimizer);
  void ended(Phase phase) { phases_.end(phase, std::chrono::steady_clock::now()); }
  void training_set(const ::torch::nn::Module& module);

  // True once, when somebody has asked the training to stop.
  bool take_stop_request() { return std::exchange(stop_requested_, false); }
  Hook& hook() { return *hook_; }
  StepPhases& phases() { return phases_; }

 private:
  // Where a step in mode eval began.
  struct EvalStart {
    const WatchedRoot* root;
    std::size_t layer;
    friend bool operator==(const EvalStart&, const EvalStart&) = default;
  };

  bool computes_what_counts() const;
  void look_for_models();
  void set_mode(Mode mode);
  void begin_step(WatchedRoot& root);
  void begin_step();
  void settle();
  void end_step();
  void end_eval_step();
  void save_phases();
  void take_note(const StepEnd& end);
  bool is_captured(const WatchedRoot& root, std::size_t layer);
  void save_gradients_of(const ::torch::optim::Optimizer& optimizer);
  void judge(const ::torch::optim::Optimizer& optimizer);
  void bill(std::chrono::steady_clock::time_point begin);

  const std::unique_ptr<Hook> hook_;
  KnownOptimizers& optimizers_;
  WatchedModels models_;
  LossTap losses_;
  ActivationFunctions functions_;
  TrainingSignals signals_;
  StepPhases phases_;
  std::chrono::nanoseconds evaluation_{0};  // of all steps
  std::chrono::nanoseconds wall_{0};        // the same
  std::int64_t steps_ = 0;                  // train steps that have ended
  OperatorFeed operators_;
  std::uint64_t seen_version_ = 0;  // of the registry of modules
  std::optional<EvalStart> eval_start_;
  bool gradients_wait_ = false;  // for the end of the optimizer's step, which computes them
  bool stop_was_requested_ = false;
  bool stop_requested_ = false;
  std::uint64_t billed_operators_ = 0;
};

}  // namespace trainwarden::torch
