// What a run's workers saved because somebody asked.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/format/checkpoint_events.h"
#include "trainwarden/trial.h"

namespace trainwarden::views {

struct WorkerCheckpoint {
  std::string worker;
  format::CheckpointEvent event;  // the newest about this request
  std::int64_t unix_ns = 0;       // when the worker said it
};

// One for each worker and request that it has answered or begun to answer, worker by worker, in the order of asking.
std::vector<WorkerCheckpoint> read_checkpoints(const Trial& trial);

std::string_view state_text(format::CheckpointState state);  // "accepted", "saved", "refused"

}  // namespace trainwarden::views
