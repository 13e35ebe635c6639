#include "ui/cli/running/job_keeper.h"

#include <signal.h>
#include <unistd.h>

#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/base/environment_names.h"
#include "core/process/descriptors.h"
#include "ui/cli/terminal/output.h"
#include "work/queue/job_queue.h"

namespace trainwarden::cli {
namespace {

namespace fs = std::filesystem;

// What it prints goes behind what `log` has.
Result<process::Child> start_detached(std::vector<std::string> command, const fs::path& log) {
  process::Program program;
  program.command = std::move(command);
  TRAINWARDEN_ASSIGN_OR_RETURN(const FileDescriptor null, process::open_null());
  TRAINWARDEN_ASSIGN_OR_RETURN(const FileDescriptor output, process::open_log_file(log.string()));
  program.descriptors = {{STDIN_FILENO, null.get()}, {STDOUT_FILENO, output.get()}, {STDERR_FILENO, output.get()}};
  program.environment.removed = {variable::kJobName, variable::kJobDir,
                                 variable::kJobAttempt};  // of a job that submits
  program.folder = "/";
  program.signals = process::SignalStart::all_default();
  sigaddset(&program.signals.blocked, SIGHUP);  // the terminal may be closed before it has a session of its own
  return process::Child::start(program);
}

}  // namespace

fs::path this_program() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored);
}

Result<process::Child> start_job_agent(const fs::path& jobs, const std::string& job) {
  const fs::path folder = fs::absolute(jobs);
  return start_detached({this_program().string(), "job", "agent", job, "--jobs", folder.string()},
                        folder / job / "agent.log");
}

Status ensure_job_keeper(const fs::path& jobs) {
  const fs::path folder = fs::absolute(jobs);
  const std::string host = queue::this_host();
  const queue::JobQueue queue(folder, host);
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<std::string> names, queue.names());
  if (names.empty() || queue.has_keeper(system_clock())) return Status();
  return start_detached({this_program().string(), "job", "keeper", "--jobs", folder.string()},
                        folder / ".queue" / host / "keeper.log")
      .status();
}

Status ensure_job_is_kept(const jobs::JobRecord& job) {
  const fs::path folder = job.place().absolute().path().parent_path();
  TRAINWARDEN_ASSIGN_OR_RETURN(const jobs::Transition now, job.current());
  if (jobs::is_queued(now.status) && job.order().host == queue::this_host()) {
    TRAINWARDEN_RETURN_IF_ERROR(queue::JobQueue(folder, job.order().host).enter(job.order().name));
  }
  return ensure_job_keeper(folder);
}

void try_ensure_job_keeper(const fs::path& jobs) {
  const Status kept = ensure_job_keeper(jobs);
  if (!kept.ok()) emit(stderr, "trainwarden: warning: nobody starts the jobs that wait: {}\n", kept.message());
}

}  // namespace trainwarden::cli
