// The gradients of all ranks as one mean, and what Trainwarden is told of how they travel.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include <torch/nn/module.h>

#include "cli/rank_options.h"
#include "parallel/group.h"
#include "parallel/overlap.h"
#include "parallel/reducer.h"
#include "trainwarden/hook.h"

namespace bert {

// Of one training. Belongs to the thread that trains.
class GradientSync {
 public:
  // Copies rank 0's parameters and buffers to all. Throws as Reducer.
  GradientSync(Group& group, torch::nn::Module& model, const RankOptions& options);

  // For a LocalScope in all backward passes of a step but the last, which sends what they have added up.
  Reducer& reducer() { return reducer_; }
  // Of a rank that has no item in a step, while the others wait for its gradients: they are zeros.
  at::Tensor loss_of_nothing() const;
  void backward_ended() { backward_ended_ns_ = steady_ns(); }
  // Waits for what still travels; then the gradients are means, the same on all ranks. Throws as Reducer::finish().
  void finish();

  // In the hook's current step: signals (docs/format/signals.md), and each bucket as calls on a track of its own where
  // operators are recorded.
  void save(trainwarden::Hook& hook) const;

  const Overlap& all_steps() const { return sum_; }  // added up

 private:
  GradientSync(Group& group, torch::nn::Module& model, const RankOptions& options,
               const std::set<std::string>& as_rows);
  void record_calls(trainwarden::Hook& hook) const;

  const int ranks_;
  NamedTensors dense_;  // parameters whose gradients do not travel as rows
  Reducer reducer_;
  std::int64_t backward_ended_ns_ = 0;
  Overlap last_, sum_;
};

}  // namespace bert
