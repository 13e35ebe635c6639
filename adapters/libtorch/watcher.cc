// Watcher: one model, captured at the end of each step and while it runs.
#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "activation_tap.h"
#include "faults.h"
#include "layer_calls.h"
#include "model_tensors.h"
#include "operator_feed.h"
#include "optimizer_state.h"
#include "trainwarden/torch.h"

namespace trainwarden::torch {

class Watcher::Impl {
 public:
  Impl(Hook& hook, const ::torch::nn::Module& module, const WatchOptions& options)
      : hook_(hook), prefix_(options.prefix), model_(hook, module, options.prefix), calls_(hook), operators_(hook) {
    if (options.activations) tap_.emplace(calls_, module, options.prefix);
    begin_step();
  }

  void watch_optimizer(const ::torch::optim::Optimizer& optimizer) {
    optimizers_.emplace_back(hook_, optimizer, model_);
  }

  void save_loss(std::string_view name, const at::Tensor& value) {
    settle();
    calls_.save_output(calls_.loss(prefix_ + std::string(name)), value);
  }
  void save_input(std::string_view name, const at::Tensor& input) {
    settle();
    calls_.save_input(calls_.layer(prefix_ + std::string(name)), input);
  }
  void save_output(std::string_view name, const at::Tensor& output) {
    settle();
    calls_.save_output(calls_.layer(prefix_ + std::string(name)), output);
  }

  // What was seen while the step ran, and what stands when it ends.
  void save_step() {
    settle();
    if (model_.refresh()) refresh_names();
    model_.save_parameters_and_buffers();
    if (!std::exchange(gradients_saved_, false)) model_.save_gradients();
    for (OptimizerState& optimizer : optimizers_) optimizer.save();
    calls_.end_step();
  }

  // Of several optimizers in a step the first one decides when.
  void save_gradients() {
    settle();
    if (std::exchange(gradients_saved_, true)) return;
    if (model_.refresh()) refresh_names();
    model_.save_gradients();
  }

  void begin_step() {
    operators_.follow();
    calls_.begin_step();
    if (tap_) tap_->begin_step();
  }

  void settle() {
    if (tap_) tap_->settle();
  }

  void on_checkpoint(std::function<void(const std::filesystem::path&)> save) {
    save_checkpoint_ = std::move(save);
    hook_.offer_checkpoints();
  }

  // Of a program that looks for requests itself nothing is taken.
  void answer_checkpoint() {
    if (!save_checkpoint_) return;
    const auto request = hook_.take_checkpoint_request();
    if (!request) return;
    hook_.answer_checkpoint(*request, hook_.write_checkpoint(".pt", [&](const std::filesystem::path& file) {
      try {
        save_checkpoint_(file);
        return Status();
      } catch (const c10::Error& error) {
        return Status(Code::kAborted, error.what_without_backtrace());
      }
    }));
  }

 private:
  void refresh_names() {
    if (tap_) tap_->refresh();
    for (OptimizerState& optimizer : optimizers_) optimizer.refresh();
  }

  Hook& hook_;
  const std::string prefix_;
  ModelTensors model_;
  LayerCalls calls_;
  OperatorFeed operators_;
  std::optional<ActivationTap> tap_;
  std::vector<OptimizerState> optimizers_;
  std::function<void(const std::filesystem::path&)> save_checkpoint_;
  bool gradients_saved_ = false;  // in this step
};

Watcher::Watcher(Hook& hook) : hook_(&hook) {}
Watcher::Watcher(Watcher&&) noexcept = default;
Watcher::~Watcher() = default;

Watcher watch(Hook& hook, const ::torch::nn::Module& module, WatchOptions options) {
  Watcher watcher(hook);
  without_throwing("watch a module", [&] {
    if (hook.report().on) watcher.impl_ = std::make_unique<Watcher::Impl>(hook, module, options);
  });
  return watcher;
}

void Watcher::watch_optimizer(const ::torch::optim::Optimizer& optimizer) {
  if (!impl_) return;
  without_throwing("watch an optimizer", [&] { impl_->watch_optimizer(optimizer); });
}

at::Tensor Watcher::loss(std::string_view name, const at::Tensor& value) {
  if (impl_) without_throwing("capture a loss", [&] { impl_->save_loss(name, value); });
  return value;
}

void Watcher::save_input(std::string_view name, const at::Tensor& input) {
  if (impl_) without_throwing("capture the input of a layer", [&] { impl_->save_input(name, input); });
}

void Watcher::save_output(std::string_view name, const at::Tensor& output) {
  if (impl_) without_throwing("capture the output of a layer", [&] { impl_->save_output(name, output); });
}

void Watcher::set_mode(Mode mode) {
  if (impl_) without_throwing("capture the last layer of a mode", [&] { impl_->settle(); });
  hook_->set_mode(mode);
  if (impl_) without_throwing("begin a step", [&] { impl_->begin_step(); });
}

StepAdvice Watcher::judge_step() {
  if (impl_) without_throwing("capture gradients", [&] { impl_->save_gradients(); });
  return hook_->judge_step();
}

void Watcher::on_checkpoint(std::function<void(const std::filesystem::path&)> save) {
  if (impl_) without_throwing("offer checkpoints", [&] { impl_->on_checkpoint(std::move(save)); });
}

StepEnd Watcher::end_step() {
  if (impl_) without_throwing("capture the model", [&] { impl_->save_step(); });
  const StepEnd end = hook_->end_step();
  if (impl_ && end.checkpoint_requested) without_throwing("save a checkpoint", [&] { impl_->answer_checkpoint(); });
  if (impl_) without_throwing("begin a step", [&] { impl_->begin_step(); });
  return end;
}

std::uint64_t failures() {
  return fault_count();
}

}  // namespace trainwarden::torch
