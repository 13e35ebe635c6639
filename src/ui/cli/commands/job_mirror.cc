// `trainwarden job mirror`: not for people. On a job's host, it sends the job's files to who follows it over ssh.
#include <csignal>

#include <unistd.h>

#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/job_commands.h"
#include "ui/cli/options/job_choice.h"
#include "ui/cli/running/job_backend.h"
#include "ui/cli/terminal/output.h"
#include "work/ssh/mirror_server.h"

namespace trainwarden::cli {
namespace {

struct JobMirrorOptions {
  JobChoice job;
  std::string id;
};

int act(const JobMirrorOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);  // the connection may go at any time
  Result<jobs::JobRecord> job = ssh::find_sent_job(jobs_folder(options.job.jobs), options.job.job, options.id);
  JobBackends backends;
  const auto look = [&] {
    backends.keep(*job);
    const auto now = backends.settle(*job);
    if (!now.ok()) emit(stderr, "trainwarden: {}\n", now.status().message());
  };
  const Status status = ssh::serve_mirror(job, STDIN_FILENO, STDOUT_FILENO, look);
  return status.ok() ? kExitFine : report_error(status);
}

}  // namespace

void add_job_mirror(CLI::App& job, CommandAction& action) {
  auto options = std::make_shared<JobMirrorOptions>();
  CLI::App& command = add_command(job, "mirror", "Send a job's files to who follows it", options, action, act);
  command.group("");  // hidden
  add_job_choice(command, options->job);
  command.add_option("--id", options->id, "Under which it was sent")->required()->type_name("ID");
}

}  // namespace trainwarden::cli
