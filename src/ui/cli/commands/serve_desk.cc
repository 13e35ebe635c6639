#include "ui/cli/commands/serve_desk.h"

#include "ui/cli/commands/job_commands.h"
#include "ui/cli/options/catalogue_choice.h"
#include "ui/cli/running/job_keeper.h"

namespace trainwarden::cli {

std::unique_ptr<work_answers::WorkDesk> open_desk(const std::filesystem::path& jobs,
                                                  const std::filesystem::path& experiments,
                                                  const std::filesystem::path& studies, bool may_act) {
  const storage::Location job_place = storage::Location(jobs).absolute();
  const storage::Location experiment_place = storage::Location(experiments).absolute();
  work_answers::JobActions actions;
  actions.settling = settle_now;
  actions.stop = stop_job;
  actions.resume = resume_job;
  if (may_act) actions.tend = [folder = job_place.path()] { try_ensure_job_keeper(folder); };
  work_answers::WorkPlaces places{job_place, catalogue_folder(job_place.path()), experiment_place,
                                  catalogue_folder(experiment_place.path()), storage::Location(studies).absolute()};
  return std::make_unique<work_answers::WorkDesk>(std::move(places), std::move(actions));
}

}  // namespace trainwarden::cli
