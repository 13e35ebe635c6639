#include "work/slurm/slurm_settle.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "core/base/log.h"
#include "work/jobs/job_limits.h"
#include "work/jobs/job_processes.h"
#include "work/slurm/slurm_control.h"
#include "work/slurm/slurm_return.h"
#include "work/slurm/slurm_standing.h"

namespace trainwarden::slurm {
namespace {

using jobs::JobPhase;
using jobs::JobRecord;
using jobs::Transition;

constexpr const char* kSlurmCause = "slurm";
// From the intent to sbatch, for who wrote it.
constexpr std::int64_t kSubmitNs = 60'000'000'000;

// In this list, or nullptr.
const SlurmJob* find_listed(const std::vector<SlurmJob>& jobs, const Submission& submission) {
  for (const SlurmJob& job : jobs) {
    const bool is_it = !submission.submitted || job.id == submission.submitted->id;
    if (is_it && job.user == static_cast<std::int64_t>(::getuid()) && job.comment == submission.intent.comment)
      return &job;
  }
  return nullptr;
}

// What is needed to say how one job goes on; each call looks at the newest.
class Settler {
 public:
  Settler(JobRecord& job, const Transition& now, const std::optional<Submission>& submission, SlurmView& slurm,
          const Clock& clock)
      : job_(job), now_(now), submission_(submission), slurm_(slurm), clock_(clock) {}

  // kAborted: it has moved on meanwhile.
  Result<Transition> settle() {
    if (!submission_) return without_number();
    const std::vector<SlurmJob>* jobs = slurm_.jobs();
    const SlurmJob* listed = jobs == nullptr ? nullptr : find_listed(*jobs, *submission_);
    if (jobs != nullptr && listed == nullptr) {  // it may be younger than the list
      jobs = slurm_.look_again();
      listed = jobs == nullptr ? nullptr : find_listed(*jobs, *submission_);
    }
    if (jobs == nullptr) return with_message("Slurm does not answer: " + slurm_.status().message());
    if (listed != nullptr) return by_word_of(*listed);
    return submission_->submitted ? by_memory() : without_number();
  }

 private:
  Transition with_message(std::string message) const { return with_message(now_, std::move(message)); }
  static Transition with_message(Transition shown, std::string message) {
    if (jobs::is_queued(shown.status)) shown.message = std::move(message);
    return shown;
  }

  Result<Transition> by_word_of(const SlurmJob& found) {
    if (!submission_->submitted) {  // who submitted it died before it could write the number
      const Submitted adopted{found.id, "", true};
      const Status written = write_submitted(job_.place(), submission_->number, adopted);
      if (!written.ok() && written.code() != Code::kAlreadyExists) return written;
    }
    const Standing standing = standing_of(found.states);
    if (has_ended(standing)) return end(standing, found, &found);
    if (now_.status == JobPhase::kStopping && standing == Standing::kQueued) return cancel_waiting(found);
    const Opinion opinion = opinion_of(standing, found.reason, known_of(found));
    const bool is_set_aside = standing == Standing::kQueued || standing == Standing::kSetAside;
    const bool ran = !jobs::is_queued(now_.status) && now_.status != JobPhase::kStopping;
    if (is_set_aside && ran) return interrupt();
    if (jobs::is_queued(now_.status) && is_held_after_launch(found)) return release(found);
    return with_message(opinion.message);
  }

  // Slurm has put it back into its queue, and its agent did not live to say so.
  Result<Transition> interrupt() {
    return job_.advance(now_, JobPhase::kInterrupted, kSlurmCause, "Slurm has put it back into its queue", clock_);
  }

  // It was asked to stop by its limit, or by somebody whose word did not reach Slurm.
  Result<Transition> cancel_waiting(const SlurmJob& found) {
    if (!is_own(job_, *submission_, found)) return now_;
    TRAINWARDEN_ASSIGN_OR_RETURN(const SlurmCommands commands, slurm_.commands());
    const Status cancelled = cancel(commands, found.key());
    if (!cancelled.ok()) log(LogLevel::kWarning, "job {} is not cancelled: {}", job_.order().name, cancelled.message());
    const std::vector<SlurmJob>* const jobs = slurm_.look_again();
    const SlurmJob* const now = jobs == nullptr ? nullptr : find_listed(*jobs, *submission_);
    if (now == nullptr || !has_ended(standing_of(now->states))) return now_;
    return end(standing_of(now->states), *now, now);
  }

  Result<Transition> by_memory() {
    // A controller that was killed gives numbers away a second time.
    std::optional<SlurmJob> found = slurm_.remembered(submission_->submitted->id);
    if (found && found->name != job_.order().name) found.reset();
    if (!found && jobs::is_queued(now_.status)) {
      if (job_.order().retries > 0 || job_.order().preemptible) return with_message(forgotten_text());
      return close(JobPhase::kFailed, "InternalServerError: " + forgotten_text());
    }
    const Standing standing = found ? standing_of(found->states) : Standing::kFailed;
    SlurmJob forgotten;
    forgotten.reason = "forgotten";
    return end(has_ended(standing) ? standing : Standing::kFailed, found.value_or(forgotten), nullptr);
  }

  Result<Transition> without_number() {
    if (now_.status == JobPhase::kStopping) return end(Standing::kFailed, SlurmJob(), nullptr);
    if (is_being_submitted(job_.place(), clock_) || clock_.unix_ns() - now_.unix_ns < kSubmitNs) {
      return with_message("it is being submitted to Slurm");
    }
    return close(JobPhase::kFailed, "InternalServerError: it did not get to Slurm; submit it again under another name");
  }

  KnownOfJob known_of(const SlurmJob& found) const {
    KnownOfJob known;
    known.requeues = found.requeues;
    known.now = now_.status;
    if (now_.status == JobPhase::kStopping) known.stop_cause = now_.cause;
    return known;
  }

  // `listed`: the same when Slurm has it still, else nothing.
  Result<Transition> end(Standing standing, const SlurmJob& found, const SlurmJob* listed) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<Transition> all, job_.transitions());
    if (all.back().seq != now_.seq) return Status(Code::kAborted, "it has moved on");
    const int attempt = jobs::attempt_of(all);
    // A record that is damaged counts as none.
    jobs::JobExit seen;
    bool has_exit = false;
    for (const auto& exit : {job_.read_exit(attempt), job_.read_launch(attempt)}) {
      if (has_exit || !exit.ok() || !*exit) continue;
      seen = **exit;
      has_exit = true;
    }
    KnownOfJob known = known_of(found);
    if (has_exit && !jobs::is_queued(now_.status) && !seen.preempted) known.exit = seen;
    if (known.exit) return job_.finish(*known.exit, clock_);
    if (is_loss(standing, listed, now_.status) && may_go_on(job_.order(), all, listed)) return go_on(listed);
    const Opinion opinion = opinion_of(standing, found.reason, known);
    if (opinion.phase == JobPhase::kInterrupted) {  // of a node that failed
      if (jobs::is_queued(now_.status)) return with_message(opinion.message);
      if (now_.status != JobPhase::kStopping) return interrupt();
      return close(JobPhase::kStopped, opinion.message);
    }
    return close(opinion.phase.value_or(JobPhase::kFailed), opinion.message);
  }

  Result<Transition> go_on(const SlurmJob* listed) {
    Transition now = now_;
    if (!jobs::is_queued(now.status)) {
      TRAINWARDEN_ASSIGN_OR_RETURN(now, job_.advance(now, JobPhase::kInterrupted, jobs::kAgentLost,
                                                     "its agent is gone, and the program with it", clock_));
    }
    if (listed == nullptr) return with_message(now, forgotten_text());
    return back_into_queue(now);
  }

  // Its program did not begin, but a node on which nothing can be started must not be tried for ever.
  Result<Transition> release(const SlurmJob& held) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<Transition> all, job_.transitions());
    SlurmJob before = held;
    before.restarts = std::max<std::int64_t>(held.restarts - 1, 0);  // Slurm has put it back, and counted that
    if (may_go_on(job_.order(), all, &before)) return back_into_queue(now_);
    return with_message(fmt::format("Slurm could not start it, and holds it; `scontrol release {}` lets it go on",
                                    to_string(held.key())));
  }

  Result<Transition> back_into_queue(const Transition& now) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const SlurmCommands commands, slurm_.commands());
    const Status back = put_back(job_, *submission_, commands, clock_);
    if (back.ok()) return with_message(now, "it goes back into Slurm's queue");
    return with_message(now, fmt::format("it does not go back into Slurm's queue: {}; `trainwarden job resume {}` "
                                         "submits it again",
                                         back.message(), job_.order().name));
  }

  std::string forgotten_text() const {
    return fmt::format("Slurm has forgotten it; `trainwarden job resume {}` submits it again", job_.order().name);
  }

  // A job stops only by way of Stopping.
  Result<Transition> close(JobPhase phase, const std::string& message) {
    Transition from = now_;
    const bool stops = jobs::status_of(phase) == jobs::JobStatus::kStopped;
    if (stops && from.status != JobPhase::kStopping) {
      const char* const cause = phase == JobPhase::kMaxRuntimeExceeded ? "max_run" : kSlurmCause;
      TRAINWARDEN_ASSIGN_OR_RETURN(from, job_.advance(from, JobPhase::kStopping, cause, message, clock_));
    }
    return job_.advance(from, phase, kSlurmCause, message, clock_);
  }

  JobRecord& job_;
  const Transition& now_;
  const std::optional<Submission>& submission_;
  SlurmView& slurm_;
  const Clock& clock_;
};

}  // namespace

Status stop_waiting(JobRecord& job, const Transition& now, std::string_view limit, const Clock& clock) {
  const Status stopping =
      job.advance(now, JobPhase::kStopping, std::string(limit), "it has waited for its turn too long", clock).status();
  return stopping.code() == Code::kAborted ? Status() : stopping;  // whoever was faster says where it stands
}

Result<Transition> settle(JobRecord& job, SlurmView& slurm, const Clock& clock) {
  for (;;) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::optional<Submission> submission, newest_submission(job.place()));
    TRAINWARDEN_ASSIGN_OR_RETURN(const Transition now, job.current());
    if (is_terminal(now.status) || job.has_agent(clock)) return now;
    if (const std::string_view limit = jobs::passed_waiting_limit(job.order(), now.status, clock.unix_ns());
        !limit.empty()) {
      const Status stopping = stop_waiting(job, now, limit, clock);
      if (!stopping.ok()) return stopping;
      continue;
    }
    Result<Transition> settled = Settler(job, now, submission, slurm, clock).settle();
    if (settled.status().code() == Code::kAborted) continue;
    // Not every cluster follows processes into groups of their own; on this machine we do.
    if (settled.ok() && settled->seq != now.seq) jobs::kill_processes_of(job.place().absolute().path());
    return settled;
  }
}

Result<std::optional<SlurmJob>> find_in_slurm(const JobRecord& job, SlurmView& slurm) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::optional<Submission> submission, newest_submission(job.place()));
  if (!submission) return std::optional<SlurmJob>();
  const std::vector<SlurmJob>* const jobs = slurm.look_again();
  if (jobs == nullptr) return slurm.status();
  const SlurmJob* const found = find_listed(*jobs, *submission);
  return found == nullptr ? std::optional<SlurmJob>() : std::optional<SlurmJob>(*found);
}

}  // namespace trainwarden::slurm
