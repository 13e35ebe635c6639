#include "work/slurm/slurm_agent.h"

#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "core/base/log.h"
#include "core/base/text.h"
#include "work/jobs/job_limits.h"
#include "work/jobs/job_processes.h"
#include "work/slurm/slurm_control.h"
#include "work/slurm/slurm_listing.h"
#include "work/slurm/slurm_settle.h"
#include "work/slurm/slurm_standing.h"
#include "work/slurm/slurm_submission.h"

namespace trainwarden::slurm {
namespace {

using jobs::JobPhase;
using jobs::Transition;
using std::chrono::steady_clock;

constexpr std::chrono::seconds kQuestionTimeout{10};  // of the time that a signal leaves
// The promise of an agent that was killed on another node runs out in this time.
constexpr std::chrono::seconds kOldAgent{80};
constexpr std::chrono::milliseconds kOldAgentLook{200};

std::int64_t number_in(const char* variable) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? 0 : parse_int(text).value_or(0);
}

class SlurmAgent {
 public:
  SlurmAgent(jobs::JobRecord& job, const SlurmSelf& self, const SlurmCommands& commands, const Clock& clock)
      : job_(job), self_(self), commands_(commands), clock_(clock) {}

  Status run(jobs::AgentSurroundings surroundings) {
    TRAINWARDEN_RETURN_IF_ERROR(claim());
    TRAINWARDEN_RETURN_IF_ERROR(await_old_agent());
    jobs::kill_processes_of(job_.place().absolute().path());  // of an attempt that Slurm has not ended whole
    TRAINWARDEN_ASSIGN_OR_RETURN(const bool goes_on, take_over());
    if (!goes_on) return Status();
    surroundings.signalled = [this] { look_for_cause(); };
    TRAINWARDEN_RETURN_IF_ERROR(jobs::run_agent(job_, clock_, std::move(surroundings)));
    return put_back();
  }

 private:
  // Of two that were submitted for one job, the first one whose number is written is the job.
  Status claim() {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::optional<Submission> submission, newest_submission(job_.place()));
    if (!submission) return {Code::kFailedPrecondition, "it was not meant for Slurm"};
    comment_ = submission->intent.comment;
    const Status claimed = write_submitted(job_.place(), submission->number, {self_.id, "", true});
    if (claimed.code() != Code::kAlreadyExists) return claimed;
    return {Code::kFailedPrecondition, fmt::format("it is another job in Slurm than {}", self_.id)};
  }

  // A controller that was killed may have forgotten that it has started the job, and start it once more beside itself.
  Status await_old_agent() const {
    const auto end = steady_clock::now() + kOldAgent;
    while (job_.has_agent(clock_)) {
      if (steady_clock::now() >= end) return {Code::kAlreadyExists, "it has an agent that lives"};
      std::this_thread::sleep_for(kOldAgentLook);
    }
    return {};
  }

  // Whether the next attempt is to begin; afterwards the job waits for its turn.
  Result<bool> take_over() {
    for (;;) {
      TRAINWARDEN_ASSIGN_OR_RETURN(const Transition now, job_.current());
      const std::string_view limit = jobs::passed_waiting_limit(job_.order(), now.status, clock_.unix_ns());
      if (!limit.empty()) {
        TRAINWARDEN_RETURN_IF_ERROR(stop_waiting(job_, now, limit, clock_));
        continue;
      }
      if (now.status == JobPhase::kPending || now.status == JobPhase::kRestarting) return true;
      if (is_terminal(now.status)) {
        return Status(Code::kFailedPrecondition, fmt::format("it is {} already", jobs::name(now.status)));
      }
      const Status moved = move_on(now);
      if (!moved.ok() && moved.code() != Code::kAborted) return moved;
      if (now.status == JobPhase::kStopping) return false;
    }
  }

  Status move_on(const Transition& now) {
    if (now.status == JobPhase::kStopping) return job_.settle(clock_).status();
    if (now.status == JobPhase::kInterrupted) {
      return job_.advance(now, JobPhase::kRestarting, "slurm", "Slurm has started it again", clock_).status();
    }
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<Transition> all, job_.transitions());
    Result<std::optional<jobs::JobExit>> exit = job_.read_exit(jobs::attempt_of(all));
    if (exit.ok() && *exit) return job_.finish(**exit, clock_).status();
    const bool may_go_on = job_.order().preemptible || jobs::attempt_of(all) <= job_.order().retries;
    if (!may_go_on) {
      return job_.advance(now, JobPhase::kFailed, "slurm", "InternalServerError: its agent is gone", clock_).status();
    }
    return job_.advance(now, JobPhase::kInterrupted, "slurm", "Slurm has ended its agent", clock_).status();
  }

  // Why this process is to end. When nobody knows it is to make room.
  void look_for_cause() {
    const std::optional<SlurmJob> me = ask();
    if (!me || me->restarts > self_.restarts) return;
    const Standing standing = standing_of(me->states);
    // One that it takes for waiting it has forgotten to have started, and starts again.
    if (standing != Standing::kEnding && !has_ended(standing)) return;
    const bool out_of_time = me->reason == "TimeLimit" || standing == Standing::kOutOfTime;
    const Result<Transition> stopping = job_.request_stop(
        out_of_time ? "max_run" : "slurm", out_of_time ? "its time in Slurm is up" : "cancelled in Slurm", clock_);
    if (!stopping.ok()) log(LogLevel::kWarning, "cannot say that it is to stop: {}", stopping.status().message());
  }

  // Nothing when Slurm does not answer or has forgotten this job, whose number another one may have by now.
  std::optional<SlurmJob> ask() const {
    const Result<std::string> text =
        commands_.run(SlurmTool::kScontrol, {"-o", "show", "job", std::to_string(self_.id)}, kQuestionTimeout);
    if (!text.ok()) {
      log(LogLevel::kWarning, "Slurm does not say why it ends this job: {}", text.status().message());
      return std::nullopt;
    }
    const std::vector<SlurmJob> jobs = parse_scontrol_jobs(*text);
    if (jobs.empty() || jobs.front().comment != comment_) return std::nullopt;
    return jobs.front();
  }

  // Who was asked to make room by somebody else than Slurm is not in Slurm's queue.
  Status put_back() {
    TRAINWARDEN_ASSIGN_OR_RETURN(const Transition now, job_.current());
    if (now.status != JobPhase::kInterrupted) return Status();
    const std::optional<SlurmJob> me = ask();
    if (!me || me->restarts > self_.restarts) return Status();
    return requeue(commands_, {self_.id, std::nullopt});
  }

  jobs::JobRecord& job_;
  const SlurmSelf self_;
  const SlurmCommands& commands_;
  const Clock& clock_;
  std::string comment_;  // that it has in Slurm
};

}  // namespace

Result<SlurmSelf> slurm_self() {
  const SlurmSelf self{number_in("SLURM_JOB_ID"), number_in("SLURM_RESTART_COUNT")};
  if (self.id <= 0) return Status(Code::kFailedPrecondition, "SLURM_JOB_ID is not set: only Slurm starts this agent");
  return self;
}

Result<std::vector<std::string>> nodes_of_job(const SlurmCommands& commands) {
  const char* const list = std::getenv("SLURM_JOB_NODELIST");  // "node[1-2]"
  if (list == nullptr) return std::vector<std::string>();
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string names,
                               commands.run(SlurmTool::kScontrol, {"show", "hostnames", list}));
  return split_list(names, '\n');
}

Status run_slurm_agent(jobs::JobRecord& job, const SlurmSelf& self, const SlurmCommands& commands, const Clock& clock,
                       jobs::AgentSurroundings surroundings) {
  return SlurmAgent(job, self, commands, clock).run(std::move(surroundings));
}

}  // namespace trainwarden::slurm
