#include "ui/views/profile/profile_steps.h"

#include "ui/views/profile/profile_memory.h"

namespace trainwarden::views {

Result<StepColumns> read_step_columns(const OpenRun::Use& run) {
  ProfileMemory& memory = run.memory<ProfileMemory>();
  TRAINWARDEN_RETURN_IF_ERROR(memory.refresh(run.trial()));
  std::size_t count = 0;
  for (const profile::StepFollower::Worker& worker : memory.steps().workers()) count += worker.steps.size();
  const std::size_t stride = count / kMostStepRows + 1;
  StepColumns columns;
  for (const profile::StepFollower::Worker& worker : memory.steps().workers()) {
    if (worker.steps.empty()) continue;
    for (std::size_t i = 0; i < worker.steps.size(); i += stride) {
      const profile::StepTime& time = worker.steps[i];
      const double ms = 1e3 * static_cast<double>(time.seconds);
      columns.step.push_back(static_cast<double>(time.global_step));
      columns.worker.push_back(static_cast<double>(columns.workers.size()));
      columns.start_unix_ms.push_back(static_cast<double>(time.end_unix_ns) / 1e6 - ms);
      columns.ms.push_back(ms);
    }
    columns.workers.push_back(worker.name);
  }
  return columns;
}

}  // namespace trainwarden::views
