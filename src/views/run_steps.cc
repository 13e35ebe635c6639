#include "views/run_steps.h"

#include <map>
#include <utility>

namespace trainwarden::views {

RunSteps read_run_steps(const Trial& trial) {
  const std::vector<std::int64_t> steps = trial.steps();
  RunSteps result;
  result.steps = fold_steps(steps);
  result.last_complete = trial.last_complete_step();
  result.state = trial.state();
  std::map<Mode, std::pair<StepFolder, StepFolder>> modes;
  for (const std::int64_t step : steps) {
    auto& [global, of_mode] = modes[trial.mode_of(step).value_or(Mode::kGlobal)];
    global.add(step);
    of_mode.add(trial.mode_step_of(step).value_or(step));
  }
  for (const auto& [mode, folders] : modes) {
    result.modes.push_back({mode, folders.first.ranges(), folders.second.ranges()});
  }
  return result;
}

}  // namespace trainwarden::views
