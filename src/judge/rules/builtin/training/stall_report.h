// What a worker that has not ended a step for long says of itself: stalls/<worker>.json (docs/format/run_folder.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainwarden/trial.h"

namespace trainwarden::rules {

// How far a worker has come in one process group.
struct GroupState {
  std::string group, ranks;         // its name, and who is in it: the same on each of its members
  std::int64_t number = 0;          // of the last collective operation that this worker has begun
  std::string operation;            // what that is; empty: not known
  std::vector<std::int64_t> sizes;  // of the tensor that went into it; empty: not known
  bool is_complete = false;         // it is known to have ended on this worker
};

struct StallReport {
  std::int64_t step = -1;
  std::int64_t written_unix_ns = 0;
  bool is_idle = false;    // its process uses no processor, and reads and writes nothing
  std::string collective;  // of torch.distributed, in which it waits
  std::string place;       // innermost line of the program: "train.py:42 in load"; that of anybody when it has none
  std::vector<GroupState> groups;
};

// Nothing where there is none, or none that can be read.
std::optional<StallReport> read_stall_report(const Trial& trial, const std::string& worker);

}  // namespace trainwarden::rules
