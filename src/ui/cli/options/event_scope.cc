#include "ui/cli/options/event_scope.h"

#include <fmt/format.h>

#include "core/base/text.h"
#include "ui/cli/commands/command.h"
#include "ui/cli/options/job_choice.h"
#include "ui/cli/options/run_locator.h"
#include "work/job_events/event_folder.h"

namespace trainwarden::cli {

Result<std::filesystem::path> EventScope::locate() const {
  if (run.empty() != all_jobs) {
    return Status(Code::kInvalidArgument,
                  fmt::format("expected the name of a run, or --all-jobs, found {}", all_jobs ? "both" : "neither"));
  }
  if (!all_jobs) return locate_run(run, runs_folder(runs));
  const job_events::EventFolder folder(jobs_folder(jobs));
  if (folder.exists()) return folder.place().path();
  return Status(Code::kNotFound, fmt::format("nothing that happened to the jobs in {} is recorded, as nobody has "
                                             "subscribed to it: `{} events rule add` does",
                                             printable(jobs_folder(jobs).string()), typed_program()));
}

OrderedJson EventScope::head(const std::filesystem::path& found) const {
  if (all_jobs) return {{"jobs", found.parent_path().string()}};
  return {{"run", run_name(found)}};
}

std::string EventScope::typed() const {
  if (!all_jobs) return run;
  return jobs.empty() ? "--all-jobs" : "--all-jobs --jobs " + jobs;
}

void add_event_scope(CLI::App& command, EventScope& place) {
  command.add_option("RUN", place.run, "Name of a run, or its path")->type_name("");
  add_runs_option(command, place.runs);
  command.add_flag("--all-jobs", place.all_jobs, "Instead of a run: all jobs of a folder, for standing subscriptions");
  add_jobs_option(command, place.jobs);
}

}  // namespace trainwarden::cli
