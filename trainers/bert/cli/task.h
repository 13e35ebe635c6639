// What a model is trained for: its examples, their loss, and how it is judged. TrainLoop does all that is the same for
// every task.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include <torch/nn/module.h>

#include "training/batch_order.h"
#include "trainwarden/hook.h"
#include "weights/config.h"

namespace bert {

class Task {
 public:
  virtual ~Task() = default;

  virtual torch::nn::Module& model() = 0;
  virtual const ModelConfig& config() const = 0;
  virtual std::int64_t example_count() const = 0;  // that are trained on

  // Name under which the loss is captured, such as "SpanLoss".
  virtual std::string_view loss_name() const = 0;
  // Sum of the losses of the examples that are real, over `divisor`: a float32 scalar with its graph.
  virtual at::Tensor loss(const Batch& batch, double divisor) = 0;

  // Judges the model as it is, captures that in the hook's current step, which is of mode eval, and gives it in words
  // for a line of output. Leaves the model in training mode. Called on all ranks at once, which may share the work and
  // find the same; the hook is switched off on all but the first.
  virtual std::string evaluate(trainwarden::Hook& hook) = 0;
  // The same when the training has ended, by all that there is to judge by.
  virtual std::string evaluate_at_end(trainwarden::Hook& hook) { return evaluate(hook); }
  // After an evaluation before the end: why the model is good enough to stop; empty: go on.
  virtual std::string reason_to_stop() const { return {}; }

  // Options of the task that decide what is computed, by name: a checkpoint of others is refused.
  virtual std::map<std::string, std::string> identity() const = 0;
  // What is trained on and judged by, in words.
  virtual std::string summary() const = 0;
  // Whole or not at all. Throws std::runtime_error.
  virtual void save_model(const std::filesystem::path& folder) const = 0;
};

}  // namespace bert
