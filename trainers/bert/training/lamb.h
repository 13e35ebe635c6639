// LAMB: Adam whose step each tensor scales by its own trust ratio, for large batches.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "training/optimizer.h"

namespace bert {

// You et al. 2019, https://arxiv.org/abs/1904.00962. Per tensor, with g scaled as below:
//   m = β₁m + (1-β₁)g, v = β₂v + (1-β₂)g², u = m̂ / (sqrt(v̂) + ε) + λw,
//   w -= η · φ(|w|) / |u| · u, with the ratio 1 where |w| or |u| is 0.
struct LambOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-6;
  double weight_decay = 0.01;
  bool bias_correction = true;  // m̂ = m/(1-β₁^t), v̂ = v/(1-β₂^t); false: m̂ = m, v̂ = v, as in the paper's first version
  // The gradients of all tensors together are divided by max(their norm / this, 1) first. 0: they are not.
  double max_gradient_norm = 0;
  bool gradient_averaging = true;  // false: m = β₁m + g
  // φ clamps |w| to these; the paper leaves them open, and most code has none.
  double min_weight_norm = 0;
  double max_weight_norm = std::numeric_limits<double>::infinity();
  double max_trust = std::numeric_limits<double>::infinity();  // the ratio is never greater
  std::vector<std::string> no_decay = bert_exclusions();       // λ = 0, as is_excluded()
  std::vector<std::string> no_adaptation = bert_exclusions();  // ratio 1
  StepLoops loops = StepLoops::kAuto;
};

// TensorFlow Addons' LAMB with BERT's exclusions: these are the defaults.
LambOptions tensorflow_addons_lamb();
// NVIDIA's (Apex FusedLAMB): the global norm of gradients is limited to 1, and tensors without decay do not adapt.
LambOptions apex_lamb();
// The same with use_nvlamb: all tensors adapt.
LambOptions nvlamb();

// Of one tensor in the last step.
struct LayerTrust {
  std::string name;
  double weight_norm = 0;  // |w| before the step, unclamped
  double update_norm = 0;  // |u|
  double ratio = 1;        // that was used
};

class Lamb final : public Optimizer {
 public:
  // Throws std::runtime_error on options outside their ranges.
  Lamb(NamedTensors parameters, const LambOptions& options);

  // Of the parameters that the last step() moved, in their order. On an accelerator this waits for the step.
  std::vector<LayerTrust> trust() const;

 private:
  void update(const std::vector<Slot*>& active, const std::vector<at::Tensor>& gradients, double learning_rate,
              double gradient_factor) override;
  void update_fused(const std::vector<Slot*>& active, const std::vector<at::Tensor>& gradients, double learning_rate,
                    double gradient_factor);
  void update_foreach(const std::vector<Slot*>& active, const std::vector<at::Tensor>& gradients, double learning_rate,
                      double gradient_factor);
  double ratio(const Slot& slot, double weight_norm, double update_norm) const;
  at::Tensor ratio_on_device(const Slot& slot, const at::Tensor& weight_norm, const at::Tensor& update_norm) const;

  LambOptions options_;
  std::vector<LayerTrust> trust_;   // after a fused step
  std::vector<std::string> moved_;  // after a step of operators: names, and [tensors, 3] of norms and ratio
  at::Tensor trust_on_device_;
};

}  // namespace bert
