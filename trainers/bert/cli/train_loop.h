// A training from its first step to its last, whatever it is for, in one process or in several.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "cli/gradient_sync.h"
#include "cli/ranks.h"
#include "cli/step_phases.h"
#include "cli/task.h"
#include "cli/train_options.h"
#include "cli/train_state.h"
#include "training/autocast.h"
#include "training/batch_order.h"
#include "training/schedule.h"
#include "trainwarden/torch.h"

namespace bert {

struct TrainOutcome {
  std::int64_t steps = 0;
  std::int64_t examples = 0;  // that all ranks together were trained on, while this process lived
  double seconds = 0;         // with evaluations in between
  bool resumed = false;       // from a checkpoint: its task was not evaluated before
  std::string stop_reason;    // empty: it ran to its end
  int ranks = 1;
  Overlap overlap;  // of all steps; nothing with one rank
};

// What result.json says of several ranks; nothing of one.
void add_ranks(nlohmann::ordered_json& result, const TrainOutcome& outcome);

// Evaluates, trains, evaluates. Goes on from the newest whole checkpoint, if there is one. Each rank has one, and all
// do the same: they share each global batch, and hold the same weights after each step. The first rank alone writes
// checkpoints. One thread.
class TrainLoop {
 public:
  // `evaluation_interval`: steps; 0: after each epoch. Task and rank must live as long. Throws std::invalid_argument
  // for options that cannot be, std::runtime_error for a checkpoint of another training, PeerLost.
  TrainLoop(const TrainOptions& options, Task& task, ThisRank& rank, std::int64_t evaluation_interval);

  // Before its end, if it is not stopped; also in processes before this one.
  std::int64_t evaluation_count() const;

  // Throws PeerLost, of which the run says so, and ReplicasDiffer.
  TrainOutcome run();

 private:
  BatchOrderOptions order_options() const;
  std::filesystem::path checkpoint_folder() const;
  void offer_state();

  void train();
  void step();
  at::Tensor forward_and_backward();
  at::Tensor share(const at::Tensor& loss);
  void update(double rate);
  void end_step();
  void save_trust();
  void tell_step(const at::Tensor& loss, double rate) const;
  std::int64_t steps_between_evaluations() const;
  bool is_time_for_evaluation() const;
  bool is_time_for_checkpoint() const;
  bool is_time_for_comparison() const;
  void compare_ranks();
  void save();
  void evaluate(bool at_end = false);
  void tell_lost(const PeerLost& error);

  const TrainOptions options_;
  Task& task_;
  const at::Device device_;
  Group& group_;
  const at::ScalarType precision_;
  const std::int64_t evaluation_interval_;
  BatchOrder order_;
  TrainState state_;
  const std::string described_;
  Schedule schedule_;
  bool resumed_ = false;
  std::optional<std::string> asked_to_stop_;  // this process, and why
  std::optional<std::string> stop_reason_;    // all ranks know of it
  std::optional<GradientSync> sync_;          // with several ranks
  std::unique_ptr<trainwarden::Hook> hook_;
  const std::unique_ptr<trainwarden::Hook> silent_ = trainwarden::Hook::disabled();  // for tasks of other ranks
  std::optional<trainwarden::torch::Watcher> watcher_;
  StepPhases phases_;
};

}  // namespace bert
