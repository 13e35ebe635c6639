#include "ui/cli/running/slurm_jobs.h"

#include <chrono>
#include <filesystem>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "core/base/clock.h"
#include "core/process/program.h"
#include "ui/cli/running/job_keeper.h"
#include "ui/cli/terminal/output.h"
#include "work/slurm/slurm_batch.h"
#include "work/slurm/slurm_control.h"
#include "work/slurm/slurm_ranks.h"
#include "work/slurm/slurm_settle.h"
#include "work/slurm/slurm_standing.h"
#include "work/slurm/slurm_submission.h"
#include "work/slurm/slurm_view.h"

namespace trainwarden::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kTries = 4;
constexpr std::chrono::seconds kFirstPause{1};
constexpr double kNsOfASecond = 1e9;
constexpr double kAgentSeconds = 30;  // after the grace, to store results and say so

slurm::BatchRequest batch_request(const jobs::JobRecord& job, const jobs::JobSpec& spec) {
  const fs::path folder = job.place().absolute().path();
  const jobs::JobOrder& order = job.order();
  const jobs::Resources& wanted = spec.resources;
  slurm::BatchRequest request;
  request.name = order.name;
  request.folder = folder.string();
  request.output = (folder / "agent.log").string();
  request.nodes = wanted.nodes;
  request.tasks_per_node = wanted.tasks_per_node;
  request.cpus_per_task = wanted.cpus.value_or(1);
  request.gpus_per_node = wanted.gpus.value_or(0);
  const auto tasks = static_cast<std::uint64_t>(wanted.tasks_per_node);
  request.memory_bytes = wanted.memory_bytes.value_or(slurm::kDefaultTaskMemoryBytes * tasks);
  request.max_run_seconds = order.max_run_seconds;
  request.grace_seconds = order.grace_seconds;
  request.requeue = order.preemptible || order.retries > 0;
  request.priority = order.priority;
  request.choice = spec.slurm;
  request.command = {this_program().string(),      "job", "slurm-agent", order.name, "--jobs",
                     folder.parent_path().string()};
  request.environment = slurm::environment_to_carry(process::environment_with({}));
  return request;
}

// Again and again while nobody knows what has become of it.
Status submit_newest(const jobs::JobRecord& job) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const slurm::SlurmCommands commands, slurm::SlurmCommands::find());
  auto pause = kFirstPause;
  for (int left = kTries;; pause *= 2) {
    const Status status = slurm::submit(job.place(), commands, system_clock()).status();
    if (status.code() != Code::kUnavailable || --left == 0) return status;
    emit(stderr, "trainwarden: {}; trying again\n", status.message());
    std::this_thread::sleep_for(pause);
  }
}

// Whatever is known to be wrong ends the job.
Status submit_or_fail(jobs::JobRecord& job) {
  const Status status = submit_newest(job);
  if (status.ok()) return status;
  if (status.code() == Code::kUnavailable) {
    return {Code::kUnavailable,
            fmt::format("nobody knows whether Slurm has job {} now: {}; `trainwarden job describe {}` "
                        "finds out",
                        job.order().name, status.message(), job.order().name)};
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(const jobs::Transition now, job.current());
  TRAINWARDEN_RETURN_IF_ERROR(
      job.advance(now, jobs::JobPhase::kFailed, "submit", "ClientError: " + status.message(), system_clock()).status());
  return status;
}

class SlurmBackend final : public JobBackend {
 public:
  std::string_view where() const override { return "on Slurm"; }

  std::vector<std::string> not_done_yet(const jobs::JobSpec&) const override { return {}; }

  // Its order runs the program, or what starts it on all nodes.
  Status prepare(const jobs::JobSpec& spec, const fs::path&, jobs::JobOrder& order) override {
    TRAINWARDEN_RETURN_IF_ERROR(check_priority(spec));
    // A task that says nothing gets one processor of Slurm.
    ranks::add_rank_variables(spec.resources, spec.resources.tasks_per_node, order.environment);
    if (order.ranks == 1) return {};
    TRAINWARDEN_ASSIGN_OR_RETURN(const bool slurm_binds, slurm_binds_tasks(spec.resources));
    order.program = slurm::ranks_command(this_program().string(), spec.resources, slurm_binds, order.program);
    order.binding = jobs::Binding::kNone;  // tasks see to it; the agent knows the processors of its own node alone
    return {};
  }

  Status submit(jobs::JobRecord& job, const jobs::JobSpec& spec) override {
    TRAINWARDEN_RETURN_IF_ERROR(slurm::write_intent(job.place(), batch_request(job, spec)));
    return submit_or_fail(job);
  }

  Result<jobs::Transition> settle(jobs::JobRecord& job) override { return slurm::settle(job, view_, system_clock()); }

  Result<jobs::Transition> stop(jobs::JobRecord& job, const std::string& message) override {
    TRAINWARDEN_ASSIGN_OR_RETURN(const jobs::Transition stopping, job.request_stop("user", message, system_clock()));
    TRAINWARDEN_RETURN_IF_ERROR(hand_on(job, stopping));
    view_ = slurm::SlurmView();  // what it says now is new
    return settle(job);
  }

  Result<jobs::Transition> resume(jobs::JobRecord& job, const std::string& message) override {
    TRAINWARDEN_RETURN_IF_ERROR(job.check_seal());
    TRAINWARDEN_ASSIGN_OR_RETURN(const jobs::Transition ended, job.current());
    if (jobs::is_queued(ended.status)) return submit_again(job);
    const bool may_go_on = jobs::is_terminal(ended.status) && ended.status != jobs::JobPhase::kCompleted;
    // The intent comes first: who looks at the job after it waits again must not take the old one's end for the new
    // one's.
    if (may_go_on) TRAINWARDEN_RETURN_IF_ERROR(slurm::write_intent_again(job.place()));
    TRAINWARDEN_ASSIGN_OR_RETURN(jobs::Transition now, job.resume(message, system_clock()));
    TRAINWARDEN_RETURN_IF_ERROR(submit_or_fail(job));
    return now;
  }

  // Slurm keeps its jobs itself; those of this machine that lie in the same folder need somebody.
  Status keep(const jobs::JobRecord& job) override {
    return ensure_job_keeper(job.place().absolute().path().parent_path());
  }

 private:
  Result<bool> slurm_binds_tasks(const jobs::Resources& resources) {
    if (resources.binding == jobs::Binding::kNone) return false;
    TRAINWARDEN_ASSIGN_OR_RETURN(const slurm::SlurmCommands commands, view_.commands());
    return slurm::binds_tasks(commands);
  }

  Status check_priority(const jobs::JobSpec& spec) {
    if (spec.priority <= 0) return {};
    TRAINWARDEN_ASSIGN_OR_RETURN(const slurm::SlurmCommands commands, view_.commands());
    if (slurm::may_raise_priority(commands)) return {};
    return {Code::kInvalidArgument,
            fmt::format("priority: expected 0 or less, as Slurm lets only its administrators raise one, found {}; a "
                        "better place in the queue is asked for with slurm.qos or slurm.partition",
                        spec.priority)};
  }

  // Of a job that is to go on, and that Slurm does not have any more.
  Result<jobs::Transition> submit_again(jobs::JobRecord& job) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::optional<slurm::SlurmJob> found, slurm::find_in_slurm(job, view_));
    const bool waits = found && !slurm::has_ended(slurm::standing_of(found->states));
    if (waits || slurm::is_being_submitted(job.place(), system_clock())) {
      return Status(Code::kFailedPrecondition, fmt::format("job {} waits in Slurm's queue already", job.order().name));
    }
    TRAINWARDEN_RETURN_IF_ERROR(slurm::write_intent_again(job.place()));
    TRAINWARDEN_RETURN_IF_ERROR(submit_or_fail(job));
    return job.current();
  }

  // A second request, after the grace, cancels it in Slurm.
  Status hand_on(const jobs::JobRecord& job, const jobs::Transition& stopping) {
    if (stopping.status != jobs::JobPhase::kStopping) return {};
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::optional<slurm::SlurmJob> found, slurm::find_in_slurm(job, view_));
    if (!found) return {};
    TRAINWARDEN_ASSIGN_OR_RETURN(const slurm::SlurmCommands commands, view_.commands());
    const double waited = static_cast<double>(system_clock().unix_ns() - stopping.unix_ns) / kNsOfASecond;
    if (waited > job.order().grace_seconds + kAgentSeconds) return slurm::cancel(commands, found->key());
    return slurm::ask_to_end(commands, *found);
  }

  slurm::SlurmView view_;  // of all jobs, asked for together
};

}  // namespace

std::unique_ptr<JobBackend> create_slurm_backend() {
  return std::make_unique<SlurmBackend>();
}

}  // namespace trainwarden::cli
