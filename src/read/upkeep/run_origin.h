// RunOrigin: from which runs a run was made, as its run.json says (`made_from`).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/journal/run_folder.h"
#include "store/storage/storage.h"
#include "trainwarden/status.h"

namespace trainwarden::upkeep {

// What of that run is not in this one, by cause.
struct OriginLoss {
  std::string cause;
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  friend bool operator==(const OriginLoss&, const OriginLoss&) = default;
};

struct RunOrigin {
  std::string how;      // "recover", "merge"
  std::string run;      // the other run's id
  std::string address;  // where it lay
  std::int64_t made_unix_ns = 0;
  std::string made_by;  // "trainwarden 0.1.0"
  std::vector<OriginLoss> lost;
  friend bool operator==(const RunOrigin&, const RunOrigin&) = default;
};

// As encode_run_info(), with the origins. Readers that do not know them pass them over.
std::string encode_run_info(const journal::RunInfo& info, const std::vector<RunOrigin>& origins);

// The oldest first; empty where the run was made by a training. kDataLoss, and the errors of the storage.
Result<std::vector<RunOrigin>> read_origins(const storage::Storage& storage);

}  // namespace trainwarden::upkeep
