// RunSteps: the steps of a run, and how global steps and those of the modes belong together.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "trainwarden/mode.h"
#include "trainwarden/trial.h"
#include "views/step_ranges.h"

namespace trainwarden::views {

// The i-th of `steps` (global) is the i-th of `mode_steps`.
struct ModeSteps {
  Mode mode = Mode::kGlobal;
  std::vector<StepRange> steps;
  std::vector<StepRange> mode_steps;
};

struct RunSteps {
  std::vector<StepRange> steps;  // global, those that are complete
  std::vector<ModeSteps> modes;
  std::int64_t last_complete = -1;
  RunState state = RunState::kRunning;
};

RunSteps read_run_steps(const Trial& trial);

}  // namespace trainwarden::views
