// CheckpointView: what a run's workers saved because somebody asked, for people and for programs.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "cli/json_out.h"
#include "format/checkpoint_events.h"
#include "trainwarden/trial.h"

namespace trainwarden::cli {

struct WorkerCheckpoint {
  std::string worker;
  format::CheckpointEvent event;  // the newest about this request
  std::int64_t unix_ns = 0;       // when the worker said it
};

// One for each worker and request that it has answered or begun to answer, worker by worker, in the order of asking.
std::vector<WorkerCheckpoint> read_checkpoints(const Trial& trial);

Json json_of(const WorkerCheckpoint& checkpoint);
// A table; nothing when there are none.
void print_checkpoints(std::FILE* out, const std::vector<WorkerCheckpoint>& checkpoints);

}  // namespace trainwarden::cli
