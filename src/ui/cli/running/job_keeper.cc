#include "ui/cli/running/job_keeper.h"

#include <signal.h>
#include <unistd.h>

#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/base/job_variables.h"
#include "core/process/descriptors.h"
#include "ui/cli/terminal/output.h"
#include "work/job_events/event_folder.h"
#include "work/job_events/subscription_folder.h"
#include "work/queue/job_queue.h"

namespace trainwarden::cli {
namespace {

namespace fs = std::filesystem;

// What it prints goes behind what `log` has.
Result<process::Child> start_detached(std::vector<std::string> command, const fs::path& log,
                                      const fs::path& works_in = "/") {
  process::Program program;
  program.command = std::move(command);
  TRAINWARDEN_ASSIGN_OR_RETURN(const FileDescriptor null, process::open_null());
  TRAINWARDEN_ASSIGN_OR_RETURN(const FileDescriptor output, process::open_log_file(log.string()));
  program.descriptors = {{STDIN_FILENO, null.get()}, {STDOUT_FILENO, output.get()}, {STDERR_FILENO, output.get()}};
  program.environment.removed = {variable::kJobName, variable::kJobDir,
                                 variable::kJobAttempt};  // of a job that submits
  program.folder = works_in.string();
  program.signals = process::SignalStart::all_default();
  sigaddset(&program.signals.blocked, SIGHUP);  // the terminal may be closed before it has a session of its own
  return process::Child::start(program);
}

void warn(const char* what, const Status& status) {
  if (!status.ok()) emit(stderr, "trainwarden: warning: {}: {}\n", what, status.message());
}

constexpr const char* kNobodyDelivers = "nobody delivers what happens to jobs";

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

Status start_job_follower(const jobs::JobRecord& job) {
  const fs::path folder = job.place().absolute().path();
  return start_detached({this_program().string(), "job", "ssh-follower", job.order().name, "--jobs",
                         folder.parent_path().string()},
                        folder / "ssh" / "follower.log")
      .status();
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
  const bool is_ours = job.order().backend == jobs::Backend::kLocal && job.order().host == queue::this_host();
  if (is_ours && jobs::is_queued(now.status)) {
    TRAINWARDEN_RETURN_IF_ERROR(job.check_seal());
    TRAINWARDEN_RETURN_IF_ERROR(queue::JobQueue(folder, job.order().host).enter(job.order().name));
  }
  return ensure_job_keeper(folder);
}

// Relative paths of actions begin at the folder of jobs, whoever starts it.
Status ensure_job_deliverer(const fs::path& jobs) {
  const fs::path folder = fs::absolute(jobs);
  if (!job_events::SubscriptionFolder(folder).any()) return Status();
  const job_events::EventFolder events(folder);
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<std::string> names, events.markers().names());
  if (names.empty() || events.has_deliverer(system_clock())) return Status();
  return start_detached({this_program().string(), "job", "deliverer", "--jobs", folder.string()}, events.log(), folder)
      .status();
}

Status ensure_job_is_told_of(const jobs::JobRecord& job) {
  const fs::path folder = job.place().absolute().path().parent_path();
  if (!job_events::SubscriptionFolder(folder).any()) return Status();
  TRAINWARDEN_ASSIGN_OR_RETURN(const jobs::Transition now, job.current());
  if (!jobs::is_terminal(now.status)) {
    TRAINWARDEN_RETURN_IF_ERROR(job_events::EventFolder(folder).markers().enter(job.order().name));
  }
  return ensure_job_deliverer(folder);
}

void try_ensure_job_deliverer(const fs::path& jobs) {
  warn(kNobodyDelivers, ensure_job_deliverer(jobs));
}

void try_ensure_job_keeper(const fs::path& jobs) {
  warn("nobody starts the jobs that wait", ensure_job_keeper(jobs));
  try_ensure_job_deliverer(jobs);
}

void try_ensure_job_is_told_of(const jobs::JobRecord& job) {
  warn(kNobodyDelivers, ensure_job_is_told_of(job));
}

}  // namespace trainwarden::cli
