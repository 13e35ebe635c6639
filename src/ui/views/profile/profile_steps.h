// Profile steps: when each train step was and how long it took, as columns.
#pragma once

#include <string>
#include <vector>

#include "trainwarden/status.h"
#include "ui/views/shelf.h"

namespace trainwarden::views {

// Of all workers together; of more every second, fourth, ... is there.
inline constexpr std::size_t kMostStepRows = 1'000'000;

// One entry a step: by worker, then by rising step.
struct StepColumns {
  std::vector<double> step;    // global
  std::vector<double> worker;  // index into workers
  std::vector<double> start_unix_ms;
  std::vector<double> ms;
  std::vector<std::string> workers;
};

Result<StepColumns> read_step_columns(const OpenRun::Use& run);

}  // namespace trainwarden::views
