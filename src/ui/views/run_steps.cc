#include "ui/views/run_steps.h"

#include "read/trial/trial_access.h"

namespace trainwarden::views {

RunSteps RunStepsMemory::read(const Trial& trial) {
  for (const trial::StepRow& row : TrialAccess::complete_rows_after(trial, last_)) {
    Folded& mode = modes_[row.mode];
    steps_.add(row.global_step);
    mode.steps.add(row.global_step);
    mode.mode_steps.add(row.mode_step);
    last_ = row.global_step;
  }
  RunSteps result;
  result.steps = steps_.ranges();
  for (const auto& [mode, folded] : modes_) {
    result.modes.push_back({mode, folded.steps.ranges(), folded.mode_steps.ranges()});
  }
  result.last_complete = trial.last_complete_step();
  result.state = trial.state();
  return result;
}

}  // namespace trainwarden::views
