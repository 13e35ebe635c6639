#include "judge/rules/builtin/training/worker_progress.h"

#include "read/trial/trial_access.h"

namespace trainwarden::rules {

std::vector<WorkerProgress> worker_progress(Trial& trial) {
  std::vector<WorkerProgress> progress;
  for (trial::WorkerJournal* const journal : TrialAccess::journals(trial)) {
    if (!journal->readable() || !journal->life().writing) continue;
    const auto steps = journal->reader().steps();
    if (steps.empty()) continue;
    progress.push_back({journal->name(), steps.back().global_step, journal->last_unix_ns()});
  }
  return progress;
}

}  // namespace trainwarden::rules
