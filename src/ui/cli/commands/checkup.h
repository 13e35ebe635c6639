// Checkup: everything that is wrong with a run's files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/journal/run_folder.h"
#include "store/storage/location.h"
#include "trainwarden/run_loss.h"
#include "trainwarden/status.h"

namespace trainwarden::cli {

// What one worker or engine wrote.
struct JournalCheckup {
  std::string writer;  // "rank-00000", "watch-0"
  bool live = false;   // a process is writing it now
  std::size_t steps = 0;
  std::size_t tensors = 0;
  std::size_t events = 0;
  std::vector<RunLoss> losses;
};

struct Checkup {
  std::string recorder;  // "trainwarden", "smdebug"
  journal::RunInfo info;
  std::vector<JournalCheckup> journals;
  std::vector<RunLoss> losses;  // that are in no journal

  bool healthy() const;  // nothing is damaged, missing or was dropped
};

// Reads every byte of the run. kNotFound and kDataLoss for run.json, kFailedPrecondition when a newer version wrote it.
Result<Checkup> examine(const storage::Location& run);

}  // namespace trainwarden::cli
