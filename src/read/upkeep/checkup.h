// Checkup: everything that is wrong with a run's files. What `doctor` explains and `verify` answers for many runs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "store/journal/run_folder.h"
#include "store/storage/location.h"
#include "trainwarden/run_loss.h"
#include "trainwarden/status.h"

namespace trainwarden::upkeep {

// What one worker or engine wrote.
struct JournalCheckup {
  std::string writer;  // "rank-00000", "watch-0"
  bool live = false;   // a process is writing it now
  std::size_t steps = 0;
  std::size_t tensors = 0;
  std::size_t events = 0;
  std::size_t segments = 0;
  std::size_t sealed = 0;   // of them
  std::uint64_t bytes = 0;  // of its segments, all checked
  std::vector<RunLoss> losses;
};

struct Checkup {
  std::string recorder;  // "trainwarden", "smdebug"
  journal::RunInfo info;
  std::vector<JournalCheckup> journals;
  std::vector<RunLoss> losses;  // that are in no journal

  bool healthy() const;  // nothing is damaged, missing or was dropped
  bool whole() const;    // nothing is damaged or missing in its files, whatever its writer dropped
};

struct CheckupPlan {
  int threads = 0;  // see many_tasks.h
  // Told now and then how many bytes have been read, of how many. From any thread, one at a time.
  std::function<void(std::uint64_t done, std::uint64_t all)> progress{};
};

// Reads every byte of the run: segments side by side. kNotFound and kDataLoss for run.json, kFailedPrecondition when a
// newer version wrote it.
Result<Checkup> examine(const storage::Location& run, const CheckupPlan& plan = {});

}  // namespace trainwarden::upkeep
