// What the rules about the course of a training loss have in common: they read it at training steps, with what signals
// speak of the training.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "judge/rules/step_statistics.h"
#include "judge/rules/training_facts.h"
#include "trainwarden/rule.h"

namespace trainwarden::rules {

using LossKey = std::pair<std::string, std::string>;  // tensor, worker

inline LossKey key_of(const TensorReduction& loss) {
  return {loss.spot.tensor, loss.spot.worker};
}

// Reads the losses of a step that trains (its mode is train, or the program sets none) and lets `judge` answer. A loss
// of several elements is taken by its mean.
Verdict judge_train_losses(const TensorSelection& selection, TrainingFacts& facts, const StepWindow& window,
                           const std::function<Verdict(const StepReductions& losses)>& judge);

// Tells a learning rate that goes up again to where it was (a warm restart, a cycle) from one that is higher than ever.
class RestartWatch {
 public:
  void next_step(const TrainingFacts& facts);
  // A restart happened in the last `steps` steps.
  bool was_within(std::int64_t steps) const { return steps_since_ <= steps; }
  // It is well above the lowest one since it was highest, at once or step by step. A loss may then rise, too.
  bool is_raised_again() const { return is_raised_; }

 private:
  static constexpr std::int64_t kNever = 1'000'000'000;
  double last_ = 0;
  double highest_ = 0;
  double lowest_ = 0;  // since it was highest
  bool is_raised_ = false;
  std::int64_t steps_since_ = kNever;
};

}  // namespace trainwarden::rules
