// RunRow: a run in the list of runs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "react/events/run_status.h"
#include "store/storage/location.h"
#include "trainwarden/status.h"
#include "trainwarden/trial.h"
#include "ui/views/last_loss.h"
#include "ui/views/run_metrics.h"

namespace trainwarden::views {

struct RunRow {
  std::string name;
  std::filesystem::path path;
  Status unreadable;  // of what follows nothing counts then
  RunState state = RunState::kRunning;
  std::optional<events::SecondaryStatus> status;  // none when its journals cannot be read, or say nothing
  std::string recorder;
  std::map<std::string, std::string> labels;
  std::int64_t created_unix_ns = 0;
  std::int64_t last_unix_ns = 0;
  std::size_t step_count = 0;
  std::int64_t last_step = -1;
  std::optional<LossNow> loss;
  RunMetrics metrics;
  std::size_t rules = 0;           // that watch or watched it
  std::vector<std::string> fired;  // those of them that have found an issue
  std::string diagnosis;           // what the rule Diagnosis has said last of what is wrong, as a sentence
  bool judged_now = false;         // one of them is in progress

  bool foreign() const { return recorder != "trainwarden"; }
};

RunRow read_run_row(const storage::Location& run);
// The same of a trial that is open, as of its last refresh.
RunRow read_run_row(Trial& trial);

// The course of the loss that has the most steps, at most `most` of its numbers, the newest being one of them.
struct LossCourse {
  std::string tensor;
  std::vector<double> values;
};
LossCourse read_loss_course(Trial& trial, std::size_t most);

}  // namespace trainwarden::views
