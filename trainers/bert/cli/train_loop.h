// A training from its first step to its last, whatever it is for.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

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
  std::int64_t examples = 0;  // that this process was trained on
  double seconds = 0;         // with evaluations in between
  bool resumed = false;       // from a checkpoint: its task was not evaluated before
  std::string stop_reason;    // empty: it ran to its end
};

// Evaluates, trains, evaluates. Goes on from the newest whole checkpoint, if there is one. One thread.
class TrainLoop {
 public:
  // `evaluation_interval`: steps; 0: after each epoch. The task must live as long. Throws std::invalid_argument for
  // options that cannot be, std::runtime_error for a checkpoint of another training.
  TrainLoop(const TrainOptions& options, Task& task, at::Device device, std::int64_t evaluation_interval);

  // Before its end, if it is not stopped; also in processes before this one.
  std::int64_t evaluation_count() const;

  TrainOutcome run();

 private:
  BatchOrderOptions order_options() const;
  std::int64_t steps_in_epoch() const;
  std::filesystem::path checkpoint_folder() const;

  at::Tensor forward_and_backward();
  void step();
  void save_trust();
  void tell_step(const at::Tensor& loss, double rate) const;
  std::int64_t steps_between_evaluations() const;
  bool is_time_for_evaluation() const;
  bool is_time_for_checkpoint() const;
  void save();
  void evaluate(bool at_end = false);

  const TrainOptions options_;
  Task& task_;
  const at::Device device_;
  const at::ScalarType precision_;
  const std::int64_t evaluation_interval_;
  BatchOrder order_;
  TrainState state_;
  Schedule schedule_;
  bool resumed_ = false;
  std::optional<std::string> stop_reason_;
  std::unique_ptr<trainwarden::Hook> hook_;
  std::optional<trainwarden::torch::Watcher> watcher_;
};

}  // namespace bert
