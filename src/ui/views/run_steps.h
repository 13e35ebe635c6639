// RunSteps: the steps of a run, and how global steps and those of the modes belong together.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "trainwarden/mode.h"
#include "trainwarden/trial.h"
#include "ui/views/step_ranges.h"

namespace trainwarden::views {

// The i-th of `steps` (global) is the i-th of `mode_steps`.
struct ModeSteps {
  Mode mode = Mode::kGlobal;
  std::vector<StridedSteps> steps;
  std::vector<StridedSteps> mode_steps;
};

struct RunSteps {
  std::vector<StridedSteps> steps;  // global, those that are complete
  std::vector<ModeSteps> modes;
  std::int64_t last_complete = -1;
  RunState state = RunState::kRunning;
};

// What has been taken in so far, so that a run of a million steps is not walked through at each of them.
class RunStepsMemory {
 public:
  // Of a trial that is always the same, as of its last refresh.
  RunSteps read(const Trial& trial);

 private:
  struct Folded {
    StepFolder steps;
    StepFolder mode_steps;
  };
  StepFolder steps_;
  std::map<Mode, Folded> modes_;
  std::int64_t last_ = -1;
};

}  // namespace trainwarden::views
