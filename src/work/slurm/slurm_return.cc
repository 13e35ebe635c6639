#include "work/slurm/slurm_return.h"

#include <algorithm>
#include <filesystem>

#include <unistd.h>

#include "core/base/log.h"
#include "store/storage/lease.h"
#include "work/jobs/job_limits.h"
#include "work/slurm/slurm_control.h"

namespace trainwarden::slurm {
namespace {

namespace fs = std::filesystem;
using jobs::JobPhase;

// Who looks at an old list would end what another one has put back, and runs by now.
constexpr const char* kReturnLease = "slurm/return";

// JOB for JOB/slurm/1/batch-X.sh
fs::path folder_of_script(const std::string& script) {
  return fs::path(script).lexically_normal().parent_path().parent_path().parent_path();
}

Status put_back_alone(const jobs::JobRecord& job, const Submission& submission, const SlurmCommands& commands) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<SlurmJob> jobs, list_jobs(commands));
  const std::optional<SlurmJob> found = find_by_comment(jobs, submission.intent.comment, ::getuid());
  if (!found) return {Code::kFailedPrecondition, "Slurm has forgotten it"};
  if (!is_own(job, submission, *found)) return {Code::kFailedPrecondition, "Slurm has it from another folder"};
  const Standing standing = standing_of(found->states);
  const bool is_held = is_held_after_launch(*found);
  if (!has_ended(standing) && !is_held) return {};
  if (!is_held) TRAINWARDEN_RETURN_IF_ERROR(requeue(commands, found->key()));
  // One that Slurm takes for cancelled while it waited comes back held.
  if (is_held || standing == Standing::kCancelled) {
    TRAINWARDEN_RETURN_IF_ERROR(commands.run(SlurmTool::kScontrol, {"release", to_string(found->key())}).status());
  }
  const Status started = start_soon(commands, found->key());
  if (!started.ok()) log(LogLevel::kWarning, "job {} waits two minutes: {}", job.order().name, started.message());
  return {};
}

}  // namespace

bool is_loss(Standing standing, const SlurmJob* listed, JobPhase now) {
  if (now == JobPhase::kStopping) return false;
  switch (standing) {
    // A controller that was killed has forgotten to have started it, so that it has no node, and takes its end for a
    // cancel.
    case Standing::kCancelled: return listed != nullptr && listed->nodes.empty() && !jobs::is_queued(now);
    case Standing::kNodeFailed: return listed == nullptr || !listed->requeues;  // else Slurm itself goes on with it
    case Standing::kOutOfTime:
    case Standing::kOutOfMemory: return false;
    default: return true;
  }
}

bool may_go_on(const jobs::JobOrder& order, const std::vector<jobs::Transition>& all, const SlurmJob* listed) {
  const std::int64_t lost = jobs::count_lost_agents(all);
  const bool waits_to_go_on = all.back().status == JobPhase::kInterrupted;
  if (listed == nullptr) return waits_to_go_on || lost < order.retries;
  if (!listed->requeues) return false;
  const std::int64_t interrupted = std::count_if(
      all.begin(), all.end(), [](const jobs::Transition& one) { return one.status == JobPhase::kInterrupted; });
  if (jobs::is_queued(all.back().status) && listed->restarts < interrupted) return true;
  // Slurm has counted those agents too that died before they said anything.
  return lost + std::max<std::int64_t>(listed->restarts - interrupted, 0) < order.retries;
}

bool is_own(const jobs::JobRecord& job, const Submission& submission, const SlurmJob& found) {
  const bool is_it = found.user == static_cast<std::int64_t>(::getuid()) && !submission.intent.comment.empty() &&
                     found.comment == submission.intent.comment &&
                     (!submission.submitted || found.id == submission.submitted->id);
  return is_it && folder_of_script(found.script) == job.place().absolute().path().lexically_normal();
}

bool is_held_after_launch(const SlurmJob& found) {
  return standing_of(found.states) == Standing::kQueued && found.reason == kLaunchFailed;
}

Status put_back(const jobs::JobRecord& job, const Submission& submission, const SlurmCommands& commands,
                const Clock& clock) {
  Result<std::unique_ptr<storage::Lease>> lease = storage::take_lease(job.place().storage(), kReturnLease, clock);
  if (lease.status().code() == Code::kAlreadyExists) return {};
  TRAINWARDEN_RETURN_IF_ERROR(lease.status());
  const Status done = put_back_alone(job, submission, commands);
  const Status ended = (*lease)->end();
  return done.ok() ? ended : done;
}

}  // namespace trainwarden::slurm
