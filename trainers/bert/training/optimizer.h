// What all optimizers share: parameters by name, a step over all of them, and state that a checkpoint keeps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "training/named_tensors.h"

namespace bert {

// How a step computes.
enum class StepLoops {
  kAuto,     // kFused on a CPU, kForeach elsewhere
  kFused,    // loops of our own over all tensors at once; CPU only
  kForeach,  // LibTorch's operators over lists of tensors; any device
};

// True where one of `patterns` is part of the name. BERT's lists are those of kBertExclusions.
bool is_excluded(const std::string& name, const std::vector<std::string>& patterns);
// What BERT's own code takes out of weight decay: {"bias", "LayerNorm", "layer_norm"}.
const std::vector<std::string>& bert_exclusions();

// One parameter and what the optimizer knows of it. float32 all, of the parameter's shape.
struct Slot {
  std::string name;
  at::Tensor parameter;
  at::Tensor master;           // the parameter itself where that is float32, else the value that is rounded to it
  at::Tensor average;          // of gradients (exp_avg)
  at::Tensor average_squared;  // of squared gradients (exp_avg_sq)
  std::int64_t steps = 0;      // that this parameter has made: it makes none without a gradient
  double weight_decay = 0;
  bool adapts = true;  // LAMB: takes part in layer adaptation
};

// Not thread-safe. Parameters keep their storage: who replaces it (Module::to) makes a new optimizer.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  // One update of all parameters that have a gradient. Gradients are multiplied by `gradient_factor` on the way (the
  // clipping's factor, 1 / loss scale, 1 / accumulated batches) and stay as they are. A sparse gradient counts as the
  // dense one that it means. Throws std::runtime_error on a gradient of another shape or device, on a parameter whose
  // storage was replaced, and on a learning rate or factor that is no finite number.
  void step(double learning_rate, double gradient_factor = 1.0);

  void zero_grad();  // drops the gradients: the next backward writes instead of adding

  // "exp_avg.NAME", "exp_avg_sq.NAME", "step.NAME" (int64, no dimension) and, for parameters that are not float32,
  // "master.NAME". The tensors are the optimizer's own, those of "step." copies.
  NamedTensors state() const;
  // Copies all into the optimizer; as copy_by_name() it throws before anything changes.
  void load_state(const NamedTensors& state);

  const std::vector<Slot>& slots() const { return slots_; }

 protected:
  // Throws as check_parameters().
  Optimizer(NamedTensors parameters, StepLoops loops);

  // Of the slots in `active`, all with float32 gradients at the same place in `gradients`, with their steps counted.
  virtual void update(const std::vector<Slot*>& active, const std::vector<at::Tensor>& gradients, double learning_rate,
                      double gradient_factor) = 0;

  bool fused() const { return fused_; }
  std::vector<Slot>& mutable_slots() { return slots_; }

 private:
  std::vector<Slot> slots_;
  bool fused_ = false;
};

}  // namespace bert
