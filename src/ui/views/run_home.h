// RunHome: a run on a page: how it stands, how it got there, what it cost, what was captured.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "react/events/run_view.h"
#include "trainwarden/collection.h"
#include "trainwarden/run_loss.h"
#include "trainwarden/trial.h"
#include "ui/views/capture_bill.h"
#include "ui/views/checkpoints.h"
#include "ui/views/last_loss.h"
#include "ui/views/run_length.h"

namespace trainwarden::views {

struct ModeProgress {
  Mode mode = Mode::kGlobal;
  std::size_t steps = 0;
  std::int64_t last_mode_step = -1;
};

struct CollectionSize {
  Collection collection;
  std::size_t tensors = 0;
};

struct WorkerHome {
  std::string name;
  bool writing = false;
};

struct RunHome {
  RunState state = RunState::kRunning;
  std::string recorder;
  std::string run_id;
  std::string host;
  std::string framework;  // empty: not known
  std::vector<std::string> command;
  std::map<std::string, std::string> labels;
  std::int64_t created_unix_ns = 0;
  std::int64_t last_unix_ns = 0;
  int world_size = 1;
  std::vector<WorkerHome> workers;

  std::size_t step_count = 0;           // that were kept
  std::int64_t last_step = -1;          // of these
  std::int64_t last_trained_step = -1;  // views::last_trained_step()
  std::vector<ModeProgress> modes;
  // From the newest steps (at most 100) and those between that were not kept, in the first worker's time; none when
  // there are too few.
  std::optional<double> steps_per_second;
  std::optional<RunLength> length;  // none when nothing says it
  std::optional<LossNow> loss;

  std::optional<events::RunView> view;      // how it got there, its rules; none when its journals cannot be read
  std::vector<CollectionSize> collections;  // those with tensors
  std::size_t tensors = 0;
  std::uint64_t journal_bytes = 0;
  std::vector<RunLoss> losses;
  std::vector<WorkerBill> bills;
  std::vector<WorkerCheckpoint> checkpoints;
};

RunHome read_run_home(Trial& trial);

}  // namespace trainwarden::views
