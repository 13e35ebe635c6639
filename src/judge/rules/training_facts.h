// TrainingFacts: what the signals have said of the training so far: its model, its optimizers, their learning rates.
//
//   TRAINWARDEN_RETURN_IF_ERROR(facts_.update(window));  // at each step, before anything else
//   if (facts_.is_frozen(name)) ...
//
// Bounded by the number of parameters. A run without signals leaves everything unknown.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/rule.h"

namespace trainwarden::rules {

// A scalar of one step.
struct SignalValue {
  TensorSpot spot;
  double value = 0;
};

// The scalars of the collection `signals` that are called `name`, or name#1, name#2, ... when there were several in the
// step; a name that ends in '/' stands for all that begin with it. By name, then by worker. Empty when there are none;
// the status is that of reading.
Result<std::vector<SignalValue>> read_signals(const StepWindow& window, std::string_view name);

// One parameter group of an optimizer, or all that is known of it.
struct OptimizerFacts {
  std::string kind;              // "Adam"
  std::vector<double> epsilons;  // of the groups that have one
};

class TrainingFacts {
 public:
  // Takes in the step's signals. kDataLoss when a signal is not what docs/format/signals.md says.
  Status update(const StepWindow& window);

  bool knows_model() const { return knows_model_; }
  bool knows_optimizers() const { return !optimizers_.empty(); }

  // Of a parameter by its name. Nothing when the model is not known, or has no such parameter.
  std::optional<bool> is_trained(std::string_view parameter) const;  // trainable, and an optimizer in use has it
  // Where the module comes in the model, children before the modules that they are part of; nothing when not known.
  std::optional<std::size_t> module_order(std::string_view module) const;
  std::optional<std::string> module_kind(std::string_view module) const;

  const std::vector<OptimizerFacts>& optimizers() const { return optimizers_; }
  // Several optimizers play against each other, or share the work: a loss of theirs need not fall.
  bool has_several_optimizers() const { return optimizers_.size() > 1; }

  // Of the last step that had them, by number of the group; empty before that.
  const std::map<std::size_t, double>& learning_rates() const { return learning_rates_; }
  std::optional<double> largest_learning_rate() const;  // NaN when any is

 private:
  Status take_model(const std::string& text);
  Status take_optimizers(const std::string& text);

  bool knows_model_ = false;
  std::map<std::string, bool, std::less<>> trained_;
  std::map<std::string, std::size_t, std::less<>> module_order_;
  std::map<std::string, std::string, std::less<>> module_kind_;
  std::vector<OptimizerFacts> optimizers_;
  std::map<std::size_t, double> learning_rates_;
};

}  // namespace trainwarden::rules
