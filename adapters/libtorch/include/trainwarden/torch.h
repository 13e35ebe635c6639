// The LibTorch adapter: captures what a torch::nn::Module does, without a change to the module.
//
//   auto watcher = trainwarden::torch::watch(*hook, *net);
//   watcher.watch_optimizer(optimizer);
//   for (...) {
//     optimizer.zero_grad();
//     auto loss = watcher.loss("CrossEntropyLoss", cross_entropy(net->forward(images), labels));
//     loss.backward();
//     optimizer.step();
//     if (watcher.end_step().stop_requested) break;
//   }
//
// What is kept, when and in which form is the hook's to decide; tensors that it does not want are not touched. Names:
//
//   conv0.weight, norm.running_mean          parameters and buffers, as they stand when the step ends; buffers belong
//                                            to collection `buffers`
//   gradient/conv0.weight                    gradients, as they stand when the step ends; missing ones are skipped
//   conv0_input_0, conv0_output_0            what went into and came out of a submodule with parameters or buffers of
//                                            its own, in collections `inputs` and `outputs`
//   CrossEntropyLoss_output_0                a loss, in collection `losses`
//   optimizer_state/conv0.weight/exp_avg     in collection `optimizer_state`
//
// The number at the end runs on when a module is called again within the step. The module that is watched has no path:
// for parameters of its own its class stands in (`Linear_output_0`). A parameter that is registered several
// times is kept once, under the first of its names.
//
// Inputs and outputs are seen where an operator uses a module's parameters (adapters/libtorch/layer_operator.h has the
// list), so a module whose forward() goes elsewhere, or that casts its weights first, is seen through observe() only.
// Inside a backward pass nothing is taken for a call: recomputed activations are not captured twice.
//
// Tensors on a CUDA device are read there (docs/reference/gpu.md). Those on other devices, sparse, quantised and meta
// tensors are counted by the hook as unsupported.
//
// Nothing here throws into the training, except what a layer given to observe() throws by itself. A fault of ours is
// logged to standard error and counted in failures().
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "trainwarden/export.h"
#include "trainwarden/hook.h"
#include "trainwarden/mode.h"
#include "trainwarden/tensor_view.h"

namespace torch::nn {
class Module;
}
namespace torch::optim {
class Optimizer;
}

namespace trainwarden::torch {

struct WatchOptions {
  std::string prefix;       // before every name, for several models in one run: "generator."
  bool activations = true;  // false: inputs and outputs of submodules are not looked for
};

// Belongs to the one thread that drives training, as end_step of the hook does: made, used and destroyed there.
class TRAINWARDEN_API Watcher {
 public:
  Watcher(Watcher&&) noexcept;
  Watcher& operator=(Watcher&&) = delete;
  ~Watcher();

  // SGD, Adam, AdamW, RMSprop and Adagrad; of parameters of the watched module. Must live as long as the watcher.
  void watch_optimizer(const ::torch::optim::Optimizer& optimizer);

  // Records `<name>_output_0` and gives the loss back.
  at::Tensor loss(std::string_view name, const at::Tensor& value);

  // Records `<name>_input_0`, calls the layer, records `<name>_output_0`. For layers without parameters (the others are
  // seen by themselves): observe("conv0_relu", torch::relu, x).
  template <class Layer>
  at::Tensor observe(std::string_view name, Layer&& layer, const at::Tensor& input);
  // The halves of observe(), for layers with several inputs or outputs.
  void save_input(std::string_view name, const at::Tensor& input);
  void save_output(std::string_view name, const at::Tensor& output);

  // In place of the hook's own, so that activations are looked for exactly when the new mode wants any.
  void set_mode(Mode mode);
  // Right before an optimizer steps: captures the gradients as they stand (end_step() then does not) and asks the rules
  // inside the training, if there are any (guard.h). Unless they say kProceed, leave the optimizer's step out.
  StepAdvice judge_step();
  // From now on end_step() calls `save` when somebody wants the training's state saved (Hook::offer_checkpoints): it
  // writes the file, which is put into the run's folder as checkpoints/step-000123-rank-00000.pt once it is whole. What
  // it throws is reported to whoever asked, and training goes on.
  void on_checkpoint(std::function<void(const std::filesystem::path& file)> save);
  // Captures parameters, buffers, gradients and optimizer state, then ends the hook's step.
  StepEnd end_step();

 private:
  friend Watcher watch(Hook& hook, const ::torch::nn::Module& module, WatchOptions options);
  class Impl;
  explicit Watcher(Hook& hook);

  Hook* hook_;
  std::unique_ptr<Impl> impl_;  // empty when watching is impossible
};

// Hook and module must live as long as the watcher. Parameters that the module gets later are found at the end of the
// step. With a hook that is switched off the watcher does nothing.
TRAINWARDEN_API Watcher watch(Hook& hook, const ::torch::nn::Module& module, WatchOptions options = {});

// How often a fault of the adapter was kept from the training, in this process.
TRAINWARDEN_API std::uint64_t failures();

// For Hook::save_tensor. Valid as long as the tensor's memory. A tensor that has no plain memory (sparse, quantised,
// meta, lazily conjugated) gives a view of a device that nobody can read, which the hook counts as unsupported.
TRAINWARDEN_API TensorView view_of(const at::Tensor& tensor);

template <class Layer>
at::Tensor Watcher::observe(std::string_view name, Layer&& layer, const at::Tensor& input) {
  save_input(name, input);
  at::Tensor output = std::forward<Layer>(layer)(input);
  save_output(name, output);
  return output;
}

}  // namespace trainwarden::torch
