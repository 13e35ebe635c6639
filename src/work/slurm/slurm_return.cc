#include "work/slurm/slurm_return.h"

#include <algorithm>
#include <filesystem>

#include <unistd.h>

#include "core/base/bytes.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "store/storage/lease.h"
#include "work/jobs/job_limits.h"
#include "work/slurm/slurm_control.h"

namespace trainwarden::slurm {
namespace {

namespace fs = std::filesystem;
using jobs::JobPhase;

// Who looks at an old list would end what another one has put back, and runs by now.
constexpr const char* kReturnLease = "slurm/return";
// When it was released last, in nanoseconds of Unix time.
constexpr const char* kReleased = "slurm/released";
// Later it is a user who holds it.
constexpr std::int64_t kReleaseLastsNs = 600'000'000'000;
constexpr std::uint64_t kMaxReleasedBytes = 64;

// JOB for JOB/slurm/1/batch-X.sh
fs::path folder_of_script(const std::string& script) {
  return fs::path(script).lexically_normal().parent_path().parent_path().parent_path();
}

// What Slurm takes for cancelled comes back held. The note is there before the release, which a controller forgets that
// is killed within the next seconds.
Status release(const jobs::JobRecord& job, const SlurmCommands& commands, const SlurmKey& key, const Clock& clock) {
  const std::string note = std::to_string(clock.unix_ns());
  TRAINWARDEN_RETURN_IF_ERROR(job.place().storage().replace(kReleased, as_bytes(note)));
  return commands.run(SlurmTool::kScontrol, {"release", to_string(key)}).status();
}

Status put_back_alone(const jobs::JobRecord& job, const Submission& submission, const SlurmCommands& commands,
                      const Clock& clock) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<SlurmJob> jobs, list_jobs(commands));
  const std::optional<SlurmJob> found = find_by_comment(jobs, submission.intent.comment, ::getuid());
  if (!found) return {Code::kFailedPrecondition, "Slurm has forgotten it"};
  if (!is_own(job, submission, *found)) return {Code::kFailedPrecondition, "Slurm has it from another folder"};
  const Standing standing = standing_of(found->states);
  const bool is_held = is_held_by_return(job, *found, clock);
  if (!has_ended(standing) && !is_held) return {};
  if (!is_held) TRAINWARDEN_RETURN_IF_ERROR(requeue(commands, found->key()));
  if (is_held || standing == Standing::kCancelled) {
    TRAINWARDEN_RETURN_IF_ERROR(release(job, commands, found->key(), clock));
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

bool is_held_by_return(const jobs::JobRecord& job, const SlurmJob& found, const Clock& clock) {
  if (found.reason != "JobHeldUser") return false;
  const Result<std::string> note = job.place().storage().read(kReleased, kMaxReleasedBytes);
  const std::optional<std::int64_t> released = note.ok() ? parse_int(*note) : std::nullopt;
  return released && clock.unix_ns() - *released < kReleaseLastsNs;
}

Status put_back(const jobs::JobRecord& job, const Submission& submission, const SlurmCommands& commands,
                const Clock& clock) {
  Result<std::unique_ptr<storage::Lease>> lease = storage::take_lease(job.place().storage(), kReturnLease, clock);
  if (lease.status().code() == Code::kAlreadyExists) return {};
  TRAINWARDEN_RETURN_IF_ERROR(lease.status());
  const Status done = put_back_alone(job, submission, commands, clock);
  const Status ended = (*lease)->end();
  return done.ok() ? ended : done;
}

}  // namespace trainwarden::slurm
