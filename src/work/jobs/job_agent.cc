#include "work/jobs/job_agent.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "core/base/hook_variables.h"
#include "core/base/job_variables.h"
#include "core/base/log.h"
#include "core/process/child.h"
#include "core/process/descriptors.h"
#include "work/jobs/attempt_group.h"
#include "work/jobs/confinement.h"
#include "work/jobs/cpu_topology.h"
#include "work/jobs/submitter_environment.h"

namespace trainwarden::jobs {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLookInterval{200};
constexpr std::chrono::seconds kFullDiskInterval{1};
constexpr double kNsPerSecond = 1e9;

class Agent {
 public:
  Agent(JobRecord& job, const Clock& clock, AgentSurroundings surroundings)
      : job_(job), clock_(clock), around_(std::move(surroundings)) {}

  Status run() {
    TRAINWARDEN_ASSIGN_OR_RETURN(lease_, job_.take_agent_lease(clock_));
    TRAINWARDEN_RETURN_IF_ERROR(begin());
    if (state_.status == JobPhase::kStopping) return end(JobPhase::kStopped, "stopped before its start");
    if (around_.stages != nullptr) around_.stages->set_meanwhile([this] { return attend_transfer(); });
    if (uploads_only_) return store_and_finish(last_exit_);
    Result<process::Child> child = start();
    if (!child.ok() && group_) group_->end();
    if (!child.ok() && (preempted_ || state_.status == JobPhase::kStopping)) return end_before_program();
    if (!child.ok()) return end(JobPhase::kFailed, "ClientError: " + child.status().message());
    move_on(JobPhase::kTraining, fmt::format("the program runs{}", attempt_ > 1 ? again() : ""));
    watch(*child);
    const JobExit exit = exit_of(child->reap());
    job_.kill_left_of(attempt_);
    if (group_) group_->end();
    TRAINWARDEN_RETURN_IF_ERROR(await_room([&] { return write_stop(); }));
    TRAINWARDEN_RETURN_IF_ERROR(await_room([&] { return job_.write_exit(attempt_, exit); }));
    return store_and_finish(exit);
  }

 private:
  std::string again() const { return fmt::format(", attempt {}", attempt_); }

  // Learns which attempt this is, and says that it starts. Afterwards it is Starting or Stopping.
  Status begin() {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<Transition> all, job_.transitions());
    state_ = all.back();
    attempt_ = attempt_of(all);
    const double ran_seconds = static_cast<double>(run_ns_of(all, clock_.unix_ns())) / kNsPerSecond;
    end_at_ = steady_clock::now() + seconds(std::max(job_.order().max_run_seconds - ran_seconds, 0.0));
    if (state_.status == JobPhase::kStopping) return Status();
    if (state_.status != JobPhase::kPending && state_.status != JobPhase::kRestarting) {
      return Status(Code::kFailedPrecondition, fmt::format("job {} is {}", job_.order().name, name(state_.status)));
    }
    TRAINWARDEN_RETURN_IF_ERROR(look_for_lost_upload(all));
    move_on(JobPhase::kStarting, "its agent has begun");
    return Status();
  }

  // The program may have ended by itself in the attempt before, whose agent was gone before it stored the results.
  Status look_for_lost_upload(const std::vector<Transition>& all) {
    const bool lost = all.size() > 1 && all[all.size() - 2].cause == kUploadLost;
    if (!lost) return Status();
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::optional<JobExit> exit, job_.read_exit(attempt_ - 1));
    if (exit) last_exit_ = *exit;
    uploads_only_ = exit.has_value();
    return Status();
  }

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
    if (Result<Transition> now = job_.newest_after(state_); now.ok()) state_ = *std::move(now);
  }

  Result<process::Child> start() {
    const JobOrder& order = job_.order();
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::filesystem::path launch, job_.prepare_attempt(attempt_));
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::optional<Allocation> given, job_.read_allocation(attempt_));
    const Allocation allocation = given.value_or(Allocation());
    AttemptSetup setup;
    group_.emplace(allocation, attempt_key(job_.place().absolute().path(), attempt_), around_.control_groups, setup);
    TRAINWARDEN_ASSIGN_OR_RETURN(setup.rank_cpus, bound_cpus(allocation));
    TRAINWARDEN_RETURN_IF_ERROR(job_.write_setup(attempt_, setup));
    const bool one_rank = setup.rank_cpus.size() == 1;  // several bind themselves
    TRAINWARDEN_ASSIGN_OR_RETURN(const Confinement confinement,
                                 Confinement::to(one_rank ? setup.rank_cpus.front() : allocation.cpus));
    process::Program program;
    TRAINWARDEN_RETURN_IF_ERROR(group_->put_in(program));
    program.command = command_of_attempt(order, launch, attempt_);
    TRAINWARDEN_ASSIGN_OR_RETURN(auto variables, environment_of_attempt(allocation));
    add_variables(allocation, variables);
    if (!order.environment_file.empty()) {
      TRAINWARDEN_ASSIGN_OR_RETURN(program.environment, read_submitter_environment(order.environment_file));
    }
    // Labels that the submitter has set stay in place of those that follow from the hyper-parameters.
    if (program.environment.set.contains(variable::kLabels)) variables.erase(variable::kLabels);
    for (const auto& [name, value] : variables) program.environment.set[name] = value;
    program.folder = order.folder;
    program.own_group = true;
    program.ends_with_us = true;
    program.signals = process::SignalStart::all_default();
    TRAINWARDEN_ASSIGN_OR_RETURN(const FileDescriptor null, process::open_null());
    TRAINWARDEN_ASSIGN_OR_RETURN(const FileDescriptor output, process::open_log_file(job_.output().string()));
    program.descriptors = {{STDIN_FILENO, null.get()}, {STDOUT_FILENO, output.get()}, {STDERR_FILENO, output.get()}};
    return process::Child::start(program);
  }

  // Of each rank; nothing when they are not bound.
  Result<std::vector<std::vector<int>>> bound_cpus(const Allocation& allocation) const {
    const JobOrder& order = job_.order();
    if (order.binding == Binding::kNone) return std::vector<std::vector<int>>();
    const std::vector<int> cpus = allocation.cpus.value_or(own_cpus());
    return cpus_of_ranks(read_topology(cpus), order.binding, static_cast<std::size_t>(order.ranks));
  }

  // What the user has set stays as it is, but for what names the job.
  Result<std::map<std::string, std::string>> environment_of_attempt(const Allocation& allocation) {
    std::map<std::string, std::string> environment = job_.order().environment;
    if (around_.stages != nullptr) {
      if (around_.stages->fetches()) move_on(JobPhase::kDownloading, "its inputs and checkpoints are fetched");
      TRAINWARDEN_ASSIGN_OR_RETURN(auto found, around_.stages->fetch(allocation));
      environment.merge(found);
    }
    environment[variable::kJobName] = job_.order().name;
    environment[variable::kJobDir] = job_.place().absolute().address();
    environment[variable::kJobAttempt] = std::to_string(attempt_);
    return environment;
  }

  // While inputs are fetched, or results stored, which may take hours. What is fetched is left when the job is to stop;
  // what is stored only when this process is to end: another agent goes on with it.
  bool attend_transfer() {
    if (around_.look) around_.look();
    (void)lease_->beat();  // what holds it is its lock
    look();
    if (around_.signals != nullptr) await_signal(std::chrono::milliseconds(0));
    if (is_storing_) return !preempted_;
    enforce_limits();
    return !preempted_ && state_.status != JobPhase::kStopping && !unwritten_stop_;
  }

  // The program was not started: its inputs were still fetched.
  Status end_before_program() {
    TRAINWARDEN_RETURN_IF_ERROR(await_room([&] { return write_stop(); }));
    look();
    if (state_.status == JobPhase::kStopping) return end(JobPhase::kStopped, "stopped while its inputs were fetched");
    JobExit exit;
    exit.signal = SIGTERM;
    exit.preempted = true;
    TRAINWARDEN_RETURN_IF_ERROR(await_room([&] { return job_.write_exit(attempt_, exit); }));
    TRAINWARDEN_RETURN_IF_ERROR(await_room([&] { return job_.finish(exit, clock_).status(); }));
    return lease_->end();
  }

  void watch(process::Child& child) {
    const process::Child::Meanwhile meanwhile = [this](std::chrono::milliseconds max) { await_signal(max); };
    while (!child.wait_for(kLookInterval, around_.signals != nullptr ? meanwhile : process::Child::Meanwhile())) {
      if (around_.look) around_.look();
      if (const Status beat = lease_->beat(); !beat.ok()) {
        log(LogLevel::kWarning, "the agent of job {} cannot renew its lease: {}", job_.order().name, beat.message());
      }
      look();
      enforce_limits();
      if (state_.status == JobPhase::kStopping || unwritten_stop_ || preempted_) urge(child);
      if (preempted_ && around_.signalled) std::exchange(around_.signalled, nullptr)();
    }
    child.kill_group();  // what it has left behind
  }

  // That the terminal is gone is nothing to a job.
  void await_signal(std::chrono::milliseconds max) {
    const std::optional<process::ReceivedSignal> signal = around_.signals->wait_for_end(max);
    if (!signal || signal->number == SIGHUP) return;
    if (signal->number == SIGINT) {
      ask_to_stop("user", "asked by a signal to its agent");
    } else {
      preempted_ = true;
    }
  }

  void enforce_limits() {
    if (state_.status == JobPhase::kStopping || unwritten_stop_) return;
    const std::optional<double>& max_wait = job_.order().max_wait_seconds;
    const double waited = static_cast<double>(clock_.unix_ns() - job_.order().submitted_unix_ns) / kNsPerSecond;
    if (steady_clock::now() >= end_at_) {
      ask_to_stop("max_run", "its time is up");
    } else if (max_wait && waited >= *max_wait) {
      ask_to_stop("max_wait", "its time to wait and to run is up");
    }
  }

  // A disk that is full keeps this from being written, and not from being done.
  void ask_to_stop(const std::string& cause, const std::string& message) {
    unwritten_stop_ = Wish{cause, message};
    if (const Status written = write_stop(); !written.ok()) {
      log(LogLevel::kWarning, "job {} stops, which is written later: {}", job_.order().name, written.message());
    }
  }

  Status write_stop() {
    if (!unwritten_stop_) return {};
    TRAINWARDEN_ASSIGN_OR_RETURN(state_, job_.request_stop(unwritten_stop_->cause, unwritten_stop_->message, clock_));
    unwritten_stop_.reset();
    return {};
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
    if (const auto seen = job_.read_launch(attempt_); seen.ok() && *seen) exit = **seen;
    exit.killed = killed_;
    exit.preempted = preempted_;
    exit.cpu_ns = std::chrono::nanoseconds(record.user_cpu + record.system_cpu).count();
    exit.peak_memory_bytes = record.peak_memory_bytes;
    if (group_) group_->add_use(exit);
    exit.out_of_memory = exit.out_of_memory || job_.was_out_of_memory(attempt_);
    return exit;
  }

  Status store_and_finish(JobExit exit) {
    if (around_.stages != nullptr) {
      look();
      if ((uploads_only_ || around_.stages->stores()) && state_.status != JobPhase::kStopping) {
        move_on(JobPhase::kUploading, "its results are stored");
      }
      is_storing_ = true;
      if (const Status stored = await_room([&] { return around_.stages->store(); }); !stored.ok()) {
        // Another agent goes on with it.
        if (preempted_ && stored.code() == Code::kCancelled) return lease_->end();
        return end(JobPhase::kFailed, "ClientError: its results are not stored: " + stored.message());
      }
      exit.failure = around_.stages->failure();
    }
    TRAINWARDEN_RETURN_IF_ERROR(await_room([&] { return job_.finish(exit, clock_).status(); }));
    return lease_->end();
  }

  // How a job has ended, and its results, are not lost to a full disk: this tries again until there is room.
  template <class Write>
  Status await_room(const Write& write) {
    for (bool told = false;; told = true) {
      const Status status = write();
      if (status.code() != Code::kResourceExhausted) return status;
      if (!told) log(LogLevel::kWarning, "the end of job {} waits: {}", job_.order().name, status.message());
      std::this_thread::sleep_for(kFullDiskInterval);
      (void)lease_->beat();  // needs room too; what holds it is its lock
    }
  }

  // Of a job that has ended otherwise than with its program, whatever it was asked meanwhile.
  Status end(JobPhase phase, const std::string& message) {
    for (;;) {
      const Status ended = await_room([&] { return job_.advance(state_, phase, "agent", message, clock_).status(); });
      if (ended.code() != Code::kAborted) {
        TRAINWARDEN_RETURN_IF_ERROR(ended);
        return lease_->end();
      }
      TRAINWARDEN_ASSIGN_OR_RETURN(state_, job_.newest_after(state_));
    }
  }

  struct Wish {
    std::string cause;
    std::string message;
  };

  JobRecord& job_;
  const Clock& clock_;
  AgentSurroundings around_;
  std::unique_ptr<storage::Lease> lease_;
  std::optional<AttemptGroup> group_;  // since its program is to start
  Transition state_;
  int attempt_ = 1;
  JobExit last_exit_;
  bool uploads_only_ = false;
  steady_clock::time_point end_at_;
  std::optional<steady_clock::time_point> kill_at_;  // the program was asked to end
  std::optional<Wish> unwritten_stop_;               // it is to stop, and there was no room to write so
  bool killed_ = false;
  bool preempted_ = false;
  bool is_storing_ = false;
};

}  // namespace

std::vector<std::string> command_of_attempt(const JobOrder& order, const std::filesystem::path& launch_file,
                                            int attempt) {
  std::vector<std::string> words = order.launcher;
  if (!words.empty()) {
    if (attempt > 1) words.emplace_back("--resume");
    words.insert(words.end(), {"--exit-record", launch_file.string(), "--"});
  }
  words.insert(words.end(), order.program.begin(), order.program.end());
  return words;
}

Status run_agent(JobRecord& job, const Clock& clock, AgentSurroundings surroundings) {
  return Agent(job, clock, std::move(surroundings)).run();
}

}  // namespace trainwarden::jobs
