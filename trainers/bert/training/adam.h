// Adam and AdamW.
#pragma once

#include <string>
#include <vector>

#include "training/optimizer.h"

namespace bert {

// Kingma and Ba 2014, https://arxiv.org/abs/1412.6980; AdamW: Loshchilov and Hutter 2017,
// https://arxiv.org/abs/1711.05101. With the defaults AdamW's numbers are those of torch.optim.AdamW, but for rounding.
struct AdamOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;  // 1e-6 in BERT's own code
  double weight_decay = 0.01;
  bool decoupled_decay = true;             // AdamW; false: decay is part of the gradient, which is Adam
  bool bias_correction = true;             // false in BERT's own code
  std::vector<std::string> no_decay = {};  // parts of names, as is_excluded(); bert_exclusions() in BERT's own code
  StepLoops loops = StepLoops::kAuto;
};

class Adam final : public Optimizer {
 public:
  // Throws std::runtime_error on betas outside [0, 1), an epsilon that is not positive, a negative decay.
  Adam(NamedTensors parameters, const AdamOptions& options);

 private:
  void update(const std::vector<Slot*>& active, const std::vector<at::Tensor>& gradients, double learning_rate,
              double gradient_factor) override;
  void update_fused(const std::vector<Slot*>& active, const std::vector<at::Tensor>& gradients, double learning_rate,
                    double gradient_factor);
  void update_foreach(const std::vector<Slot*>& active, const std::vector<at::Tensor>& gradients, double learning_rate,
                      double gradient_factor);

  // Parameters whose factors are alike: two groups as a rule, with and without decay. In lists, as LibTorch wants them.
  struct Alike {
    std::vector<at::Tensor> weights, averages, squares, gradients;
    std::int64_t steps = 0;
    double weight_decay = 0;
  };
  std::vector<Alike> alike(const std::vector<Slot*>& active, const std::vector<at::Tensor>& gradients) const;
  void update_by_operators(Alike& group, double learning_rate, double gradient_factor) const;
  // In one pass, where LibTorch has that.
  bool update_in_one_pass(Alike& group, double learning_rate, double gradient_factor) const;

  AdamOptions options_;
};

}  // namespace bert
