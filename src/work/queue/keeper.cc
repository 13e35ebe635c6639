#include "work/queue/keeper.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/log.h"
#include "work/jobs/job_limits.h"
#include "work/jobs/job_record.h"

namespace trainwarden::queue {
namespace {

using jobs::JobPhase;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kTick{50};
constexpr milliseconds kLookInterval{500};              // at each job; at once when its agent has ended
constexpr milliseconds kReasonsInterval{1000};          // why jobs wait is written so often at most
constexpr std::int64_t kSubmissionNs = 60'000'000'000;  // a job comes so long after its place in the queue
constexpr int kMaxAgentFailures = 3;

// A job in the queue, as this keeper knows it.
struct KeptJob {
  explicit KeptJob(jobs::JobRecord opened) : record(std::move(opened)) {}

  jobs::JobRecord record;
  jobs::Transition now;
  int attempt = 1;
  std::optional<process::Child> agent;         // that we have started
  std::optional<jobs::Allocation> allocation;  // while it runs, or its agent does
  std::int64_t started_at_seq = 0;             // where the job stood then
  int agent_failures = 0;
  steady_clock::time_point look_at;
};

class Keeper {
 public:
  Keeper(const storage::Location& jobs, JobQueue& queue, const Clock& clock, KeeperSurroundings surroundings)
      : jobs_(jobs), queue_(queue), clock_(clock), around_(std::move(surroundings)) {}

  Status run() {
    for (;;) {
      Result<std::unique_ptr<storage::Lease>> lease = queue_.take_keeper_lease(clock_);
      if (lease.status().code() == Code::kAlreadyExists) return Status();
      TRAINWARDEN_RETURN_IF_ERROR(lease.status());
      TRAINWARDEN_ASSIGN_OR_RETURN(const bool go_on, keep(**lease));
      TRAINWARDEN_RETURN_IF_ERROR((*lease)->end());
      lease = Status(Code::kCancelled, "freed");
      // Who came in between saw that the queue was kept.
      TRAINWARDEN_ASSIGN_OR_RETURN(const auto names, queue_.names());
      if (!go_on || names.empty()) return Status();
    }
  }

 private:
  // False when this process is to end.
  Result<bool> keep(storage::Lease& lease) {
    steady_clock::time_point busy_at = steady_clock::now();
    while (steady_clock::now() - busy_at < around_.idle) {
      if (const Status beat = lease.beat(); !beat.ok()) {
        log(LogLevel::kWarning, "the keeper of the queue cannot renew its lease: {}", beat.message());
      }
      TRAINWARDEN_RETURN_IF_ERROR(learn_names());
      for (auto& [name, job] : kept_) look_at(name, job);
      std::erase_if(kept_, [](const auto& one) { return jobs::is_terminal(one.second.now.status); });
      if (changed_) start_what_fits();
      write_reasons();
      if (!kept_.empty()) busy_at = steady_clock::now();
      if (!around_.pause(kTick)) return false;
    }
    return true;
  }

  // Takes those in that are new.
  Status learn_names() {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<std::string> names, queue_.names());
    for (const std::string& name : names) {
      if (!kept_.contains(name)) take_in(name);
    }
    return Status();
  }

  void take_in(const std::string& name) {
    Result<jobs::JobRecord> record = jobs::JobRecord::open(jobs_, name);
    if (record.ok() && around_.may_start) {
      if (const Status may = around_.may_start(*record); !may.ok()) record = may;
    }
    if (record.ok()) {
      kept_.emplace(name, KeptJob(*std::move(record)));
      return;
    }
    const std::optional<std::int64_t> entered = queue_.entered_unix_ns(name);
    const bool still_comes =
        record.status().code() == Code::kNotFound && entered && clock_.unix_ns() - *entered < kSubmissionNs;
    if (still_comes) return;
    log(LogLevel::kWarning, "left the queue: {}", record.status().message());
    leave(name);
  }

  void enter(const std::string& name) {
    if (const Status entered = queue_.enter(name); !entered.ok()) log(LogLevel::kWarning, "{}", entered.message());
  }

  void leave(const std::string& name) {
    if (const Status left = queue_.leave(name); !left.ok()) log(LogLevel::kWarning, "{}", left.message());
  }

  void look_at(const std::string& name, KeptJob& job) {
    const bool agent_ended = job.agent && job.agent->has_ended();
    if (!agent_ended && steady_clock::now() < job.look_at) return;
    job.look_at = steady_clock::now() + kLookInterval;
    const Status learned = learn(job);
    if (!learned.ok() && learned.code() != Code::kResourceExhausted) {  // on a full disk it waits for room
      log(LogLevel::kWarning, "job {} leaves the queue: {}", name, learned.message());
      job.now.status = JobPhase::kFailed;  // as far as this keeper is concerned
    }
    if (agent_ended) take_agents_end(name, job);
    if (jobs::is_terminal(job.now.status)) {
      leave(name);
      if (is_to_be_kept(name)) enter(name);
      changed_ = true;
    }
  }

  // Between a look and leaving the queue somebody may have resumed it, or submitted another one under its name.
  bool is_to_be_kept(const std::string& name) const {
    const Result<jobs::JobRecord> record = jobs::JobRecord::open(jobs_, name);
    if (!record.ok()) return false;
    const Result<jobs::Transition> now = record->current();
    return now.ok() && !jobs::is_terminal(now->status);
  }

  // Where it stands.
  Status learn(KeptJob& job) {
    TRAINWARDEN_ASSIGN_OR_RETURN(jobs::Transition now, job.record.settle(clock_));
    TRAINWARDEN_ASSIGN_OR_RETURN(now, enforce_limits(job, now));
    if (now.status == JobPhase::kInterrupted) {
      TRAINWARDEN_ASSIGN_OR_RETURN(now, restart(job, now));
    }
    if (now.seq == job.now.seq) return Status();
    changed_ = true;
    job.now = now;
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<jobs::Transition> all, job.record.transitions());
    job.attempt = jobs::attempt_of(all);
    if (jobs::is_queued(now.status)) {
      if (!job.agent) job.allocation.reset();
    } else if (!job.allocation) {
      TRAINWARDEN_ASSIGN_OR_RETURN(const auto allocation, job.record.read_allocation(job.attempt));
      job.allocation = allocation.value_or(jobs::Allocation());
    }
    return Status();
  }

  Result<jobs::Transition> restart(KeptJob& job, const jobs::Transition& now) {
    Result<jobs::Transition> next =
        job.record.advance(now, JobPhase::kRestarting, "queue", "waits for its turn to go on", clock_);
    if (next.status().code() == Code::kAborted) return job.record.newest_after(now);
    return next;
  }

  // Of a job that waits; its agent looks after one that runs.
  Result<jobs::Transition> enforce_limits(KeptJob& job, const jobs::Transition& now) {
    const std::string cause(jobs::passed_waiting_limit(job.record.order(), now.status, clock_.unix_ns()));
    if (cause.empty() || job.agent) return now;
    TRAINWARDEN_RETURN_IF_ERROR(job.record.request_stop(cause, "it has waited for its turn too long", clock_).status());
    return job.record.settle(clock_);
  }

  void take_agents_end(const std::string& name, KeptJob& job) {
    job.agent->reap();
    job.agent.reset();
    changed_ = true;
    if (!jobs::is_queued(job.now.status)) return;
    job.allocation.reset();
    const bool has_run = job.now.seq != job.started_at_seq;  // it was interrupted, and waits again
    if (!has_run) count_failure(name, job);
  }

  void count_failure(const std::string& name, KeptJob& job) {
    if (++job.agent_failures < kMaxAgentFailures) return;
    log(LogLevel::kWarning, "the agent of job {} has ended {} times before it began", name, job.agent_failures);
    const auto failed =
        job.record.advance(job.now, JobPhase::kFailed, "queue",
                           "InternalServerError: its agent cannot be started: see `job logs --agent`", clock_);
    if (failed.ok()) job.now = *failed;
  }

  void start_what_fits() {
    changed_ = false;
    std::vector<WaitingJob> waiting;
    std::vector<jobs::Allocation> running;
    for (const auto& [name, job] : kept_) {
      const jobs::JobOrder& order = job.record.order();
      if (job.allocation) {
        running.push_back(*job.allocation);
      } else if (jobs::is_queued(job.now.status)) {
        waiting.push_back({name, order.needs, order.priority, order.submitted_unix_ns});
      }
    }
    const Result<QueueLimits> limits = queue_.limits();
    if (!limits.ok()) log(LogLevel::kWarning, "the limits of the queue are ignored: {}", limits.status().message());
    const Placing placing = place(std::move(waiting), running, limited(around_.machine, limits.value_or({})));
    for (auto [name, allocation] : placing.starts) {
      allocation.control_group = limits.value_or({}).control_group;
      start(name, kept_.at(name), allocation);
    }
    reasons_ = placing.reasons;
  }

  void start(const std::string& name, KeptJob& job, const jobs::Allocation& allocation) {
    Status status = job.record.write_allocation(job.attempt, allocation);
    if (status.ok()) {
      Result<process::Child> agent = around_.start_agent(name);
      status = agent.status();
      if (agent.ok()) job.agent = *std::move(agent);
    }
    if (status.ok()) {
      job.allocation = allocation;
      job.started_at_seq = job.now.seq;
    } else {
      log(LogLevel::kWarning, "the agent of job {} cannot be started: {}", name, status.message());
      count_failure(name, job);
      changed_ = true;
    }
  }

  void write_reasons() {
    if (reasons_ == written_reasons_ || steady_clock::now() < reasons_at_) return;
    reasons_at_ = steady_clock::now() + kReasonsInterval;
    if (queue_.set_reasons(reasons_).ok()) written_reasons_ = reasons_;
  }

  const storage::Location jobs_;
  JobQueue& queue_;
  const Clock& clock_;
  KeeperSurroundings around_;
  std::map<std::string, KeptJob> kept_;
  bool changed_ = true;
  std::map<std::string, std::string> reasons_;
  std::map<std::string, std::string> written_reasons_;
  steady_clock::time_point reasons_at_;
};

}  // namespace

Status keep_queue(const storage::Location& jobs, JobQueue& queue, const Clock& clock, KeeperSurroundings surroundings) {
  return Keeper(jobs, queue, clock, std::move(surroundings)).run();
}

}  // namespace trainwarden::queue
