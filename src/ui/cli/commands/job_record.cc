// `trainwarden job record`: not for people. `submit` starts it; it records what goes into a job of an experiment.
#include <unistd.h>

#include "core/base/log.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/job_commands.h"
#include "ui/cli/options/job_choice.h"
#include "ui/cli/running/job_experiment.h"
#include "work/document/document.h"

namespace trainwarden::cli {
namespace {

struct JobRecordOptions {
  JobChoice job;
  std::string folder;  // where relative paths of its file begin
};

int act(const JobRecordOptions& options) {
  const Result<jobs::JobRecord> job = options.job.open();
  if (!job.ok()) return report_error(job.status());
  const Result<document::DocumentValue> top = document::parse(job->order().spec, "job");
  if (!top.ok()) return report_error(top.status());
  document::Mistakes ignored;  // `submit` has told them
  const jobs::JobSpec spec = jobs::read_job_spec(*top, ignored);
  const Status status = record_job_inputs(*job, spec, options.folder);
  return status.ok() ? kExitFine : report_error(status);
}

}  // namespace

void add_job_record(CLI::App& job, CommandAction& action) {
  auto options = std::make_shared<JobRecordOptions>();
  CLI::App& command = add_command(job, "record", "Record what goes into a job", options, action, act);
  command.group("");  // hidden
  add_job_choice(command, options->job);
  command.add_option("--folder", options->folder, "Where relative paths of its file begin")->type_name("DIR");
}

}  // namespace trainwarden::cli
