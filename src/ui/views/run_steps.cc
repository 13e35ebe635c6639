#include "ui/views/run_steps.h"

namespace trainwarden::views {

RunSteps RunStepsMemory::read(const Trial& trial) {
  for (const std::int64_t step : trial.complete_steps_after(last_)) {
    Folded& mode = modes_[trial.mode_of(step).value_or(Mode::kGlobal)];
    steps_.add(step);
    mode.steps.add(step);
    mode.mode_steps.add(trial.mode_step_of(step).value_or(step));
    last_ = step;
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
