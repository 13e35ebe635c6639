#include "ui/cli/running/local_jobs.h"

#include <unistd.h>

#include <fmt/format.h>

#include "core/base/clock.h"
#include "core/process/program.h"
#include "store/storage/location.h"
#include "ui/cli/running/job_keeper.h"
#include "ui/cli/terminal/output.h"
#include "work/jobs/full_disk.h"
#include "work/jobs/submitter_environment.h"
#include "work/queue/job_queue.h"
#include "work/queue/machine.h"
#include "work/ranks/local_ranks.h"

namespace trainwarden::cli {
namespace {

namespace fs = std::filesystem;

// "NAME=value" each: ours, or those of the job that is repeated.
Result<std::vector<std::string>> variables_for(const jobs::JobOrder& order) {
  if (order.environment_file.empty()) return process::environment_with({});
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto kept, jobs::read_submitter_environment(order.environment_file));
  std::vector<std::string> variables;
  for (const auto& [name, value] : kept.set) variables.push_back(name + "=" + value);
  return variables;
}

// For the agent, which the keeper of the queue starts.
Result<std::string> keep_environment(const fs::path& jobs, const jobs::JobOrder& order) {
  const fs::path folder = jobs / order.name;
  const storage::Location place(folder);
  TRAINWARDEN_RETURN_IF_ERROR(place.storage().create_folder(""));
  const fs::path file = folder / fmt::format("environment-{:x}-{}", order.submitted_unix_ns, ::getpid());
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<std::string> variables, variables_for(order));
  TRAINWARDEN_RETURN_IF_ERROR(jobs::write_submitter_environment(file, variables));
  return file.string();
}

// There is no room to write that it is to stop. A folder of jobs may be anybody's, and so may the process be that holds
// a lock in it: only the agent of this user's own job is signalled.
Status stop_unwritten(const jobs::JobRecord& job, const Status& why) {
  const Status own = job.check_seal();
  const Status signalled = own.ok() ? job.signal_agent_to_stop() : own;
  if (!signalled.ok()) {
    return Status(why.code(), fmt::format("{}; nor can its agent be told: {}", why.message(), signalled.message()));
  }
  emit(
      stderr,
      "trainwarden: warning: job {} stops, and this is written when there is room: {}; once its program has ended, its "
      "output.log may be removed to make some\n",
      job.order().name, why.message());
  return Status();
}

class LocalBackend final : public JobBackend {
 public:
  std::string_view where() const override { return "on this machine"; }

  std::vector<std::string> not_done_yet(const jobs::JobSpec& spec) const override {
    std::vector<std::string> keys;
    const jobs::Resources& resources = spec.resources;
    if (resources.nodes > 1) keys.emplace_back("nodes (several need backend = \"slurm\")");
    return keys;
  }

  Status prepare(const jobs::JobSpec& spec, const fs::path& jobs, jobs::JobOrder& order) override {
    if (order.ranks > 1) {
      order.program =
          ranks::local_ranks_command(this_program().string(), spec.resources, order.grace_seconds, order.program);
    }
    const auto cpus = static_cast<std::int64_t>(queue::this_machine().cpus.size());
    ranks::add_rank_variables(spec.resources, cpus, order.environment);
    order.host = queue::this_host();
    TRAINWARDEN_ASSIGN_OR_RETURN(order.environment_file, keep_environment(jobs, order));
    return {};
  }

  // Its place in the queue comes first: a job that is there and has none would wait for ever.
  Status announce(const fs::path& jobs, const jobs::JobOrder& order) override {
    return queue::JobQueue(jobs, order.host).enter(order.name);
  }

  void withdraw(const fs::path& jobs, const jobs::JobOrder& order) override {
    const auto another = jobs::JobRecord::open(jobs, order.name);  // which was faster
    const auto standing = another.ok() ? another->current() : another.status();
    if (standing.ok() && !jobs::is_terminal(standing->status)) return;
    const Status left = queue::JobQueue(jobs, order.host).leave(order.name);
    if (!left.ok()) emit(stderr, "trainwarden: warning: {}\n", left.message());
  }

  Status submit(jobs::JobRecord& job, const jobs::JobSpec&) override { return ensure_job_is_kept(job); }

  Result<jobs::Transition> settle(jobs::JobRecord& job) override {
    Result<jobs::Transition> now = job.settle(system_clock());
    if (now.status().code() == Code::kResourceExhausted) now = job.current();
    if (!now.ok() || jobs::is_terminal(now->status)) return now;
    const std::string notice = jobs::full_disk_notice(job);
    if (!notice.empty()) now->message += "; " + notice;
    return now;
  }

  // Its agent reads the state.
  Result<jobs::Transition> stop(jobs::JobRecord& job, const std::string& message) override {
    const Status asked = job.request_stop("user", message, system_clock()).status();
    if (asked.code() == Code::kResourceExhausted) {
      TRAINWARDEN_RETURN_IF_ERROR(stop_unwritten(job, asked));
    } else if (!asked.ok()) {
      return asked;
    }
    return settle(job);  // one that has not begun ends at once
  }

  Result<jobs::Transition> resume(jobs::JobRecord& job, const std::string& message) override {
    TRAINWARDEN_RETURN_IF_ERROR(job.check_seal());
    TRAINWARDEN_ASSIGN_OR_RETURN(jobs::Transition now, job.resume(message, system_clock()));
    TRAINWARDEN_RETURN_IF_ERROR(ensure_job_is_kept(job));
    return now;
  }

  Status keep(const jobs::JobRecord& job) override { return ensure_job_is_kept(job); }
};

}  // namespace

std::unique_ptr<JobBackend> create_local_backend() {
  return std::make_unique<LocalBackend>();
}

}  // namespace trainwarden::cli
