#include "ui/cli/commands/serve_desk.h"

#include "ui/cli/commands/job_commands.h"
#include "ui/cli/options/catalogue_choice.h"
#include "ui/cli/running/job_keeper.h"

namespace trainwarden::cli {

std::unique_ptr<work_answers::WorkDesk> open_desk(const std::filesystem::path& jobs, bool may_act) {
  const storage::Location place = storage::Location(jobs).absolute();
  work_answers::JobActions actions;
  actions.settling = settle_now;
  actions.stop = stop_job;
  actions.resume = resume_job;
  if (may_act) actions.tend = [jobs = place.path()] { try_ensure_job_keeper(jobs); };
  return std::make_unique<work_answers::WorkDesk>(work_answers::WorkPlaces{place, catalogue_folder(place.path())},
                                                  std::move(actions));
}

}  // namespace trainwarden::cli
