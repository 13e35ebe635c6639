#include "work/jobs/job_agent.h"

#include <chrono>
#include <csignal>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "core/base/environment_names.h"
#include "core/base/log.h"
#include "core/process/child.h"
#include "core/process/descriptors.h"
#include "work/jobs/job_processes.h"

namespace trainwarden::jobs {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLookInterval{200};

class Agent {
 public:
  Agent(JobRecord& job, const Clock& clock) : job_(job), clock_(clock) {}

  Status run() {
    TRAINWARDEN_ASSIGN_OR_RETURN(lease_, job_.take_agent_lease(clock_));
    TRAINWARDEN_ASSIGN_OR_RETURN(state_, job_.current());
    if (state_.status == JobPhase::kStopping) return end(JobPhase::kStopped, "stopped before its start");
    if (state_.status != JobPhase::kPending) {
      return Status(Code::kFailedPrecondition, fmt::format("job {} is {}", job_.order().name, name(state_.status)));
    }
    if (!move_on(JobPhase::kStarting, "its agent has begun")) {
      return end(JobPhase::kStopped, "stopped before its start");
    }
    Result<process::Child> child = start();
    if (!child.ok()) return end(JobPhase::kFailed, "ClientError: " + child.status().message());
    move_on(JobPhase::kTraining, "the program runs");
    watch(*child);
    const JobExit exit = exit_of(child->reap());
    TRAINWARDEN_RETURN_IF_ERROR(job_.write_exit(exit));
    TRAINWARDEN_RETURN_IF_ERROR(job_.finish(exit, clock_).status());
    return lease_->end();
  }

 private:
  // False when the job was asked to stop meanwhile, which state_ then says.
  bool move_on(JobPhase to, const std::string& message) {
    Result<Transition> next = job_.advance(state_, to, "agent", message, clock_);
    if (next.ok()) {
      state_ = *std::move(next);
      return true;
    }
    look();
    return false;
  }

  void look() {
    if (Result<Transition> now = job_.current(); now.ok()) state_ = *std::move(now);
  }

  Result<process::Child> start() const {
    const JobOrder& order = job_.order();
    process::Program program;
    program.command = order.command;
    program.environment.set = order.environment;
    program.environment.set[variable::kJobName] = order.name;
    program.environment.set[variable::kJobDir] = job_.place().absolute().address();
    program.folder = order.folder;
    program.own_group = true;
    program.ends_with_us = true;
    program.signals = process::SignalStart::all_default();
    TRAINWARDEN_ASSIGN_OR_RETURN(const FileDescriptor null, process::open_null());
    TRAINWARDEN_ASSIGN_OR_RETURN(const FileDescriptor output, process::open_output_file(job_.output().string()));
    program.descriptors = {{STDIN_FILENO, null.get()}, {STDOUT_FILENO, output.get()}, {STDERR_FILENO, output.get()}};
    return process::Child::start(program);
  }

  void watch(process::Child& child) {
    const auto end_at = steady_clock::now() + seconds(job_.order().max_run_seconds);
    while (!child.wait_for(kLookInterval)) {
      if (const Status beat = lease_->beat(); !beat.ok()) {
        log(LogLevel::kWarning, "the agent of job {} cannot renew its lease: {}", job_.order().name, beat.message());
      }
      look();
      if (state_.status != JobPhase::kStopping && steady_clock::now() >= end_at) {
        const Result<Transition> now = job_.request_stop("max_run", "its time is up", clock_);
        if (now.ok()) state_ = *now;
      }
      if (state_.status == JobPhase::kStopping) urge(child);
    }
    child.kill_group();  // what it has left behind
    kill_processes_of(job_.place().absolute().path());
  }

  // SIGTERM to the program once, SIGKILL to its group after the grace.
  void urge(process::Child& child) {
    const auto now = steady_clock::now();
    if (!kill_at_) {
      kill_at_ = now + seconds(job_.order().grace_seconds);
      child.send(SIGTERM);
    } else if (now >= *kill_at_) {
      killed_ = true;
      child.kill_group();
    }
  }

  static steady_clock::duration seconds(double count) {
    return std::chrono::duration_cast<steady_clock::duration>(std::chrono::duration<double>(count));
  }

  // What `trainwarden run` wrote of the program; of `run` itself when it wrote nothing.
  JobExit exit_of(const process::ExitRecord& record) const {
    JobExit exit;
    exit.wall_ns = record.wall.count();
    if (record.how == process::ExitRecord::How::kExited) exit.code = record.number;
    if (record.how == process::ExitRecord::How::kSignalled) exit.signal = record.number;
    if (const auto seen = job_.read_launch(); seen.ok() && *seen) exit = **seen;
    exit.killed = killed_;
    return exit;
  }

  // Of a job whose program has not run.
  Status end(JobPhase phase, const std::string& message) {
    TRAINWARDEN_ASSIGN_OR_RETURN(state_, job_.advance(state_, phase, "agent", message, clock_));
    return lease_->end();
  }

  JobRecord& job_;
  const Clock& clock_;
  std::unique_ptr<storage::Lease> lease_;
  Transition state_;
  std::optional<steady_clock::time_point> kill_at_;  // the program was asked to end
  bool killed_ = false;
};

}  // namespace

Status run_agent(JobRecord& job, const Clock& clock) {
  return Agent(job, clock).run();
}

}  // namespace trainwarden::jobs
