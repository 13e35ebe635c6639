#include "work/jobs/job_agent.h"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <functional>
#include <thread>

#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/folder_testing.h"
#include "core/base/log.h"
#include "core/process/descriptors.h"
#include "core/process/running_testing.h"

namespace trainwarden::jobs {
namespace {

using process::ends_soon;
using S = JobPhase;

// What another process says: a byte each time. An end of this is in each of both.
class Signs {
 public:
  Signs() {
    auto made = process::open_pipe();
    EXPECT_TRUE(made.ok());
    if (made.ok()) pipe_ = *std::move(made);
  }
  void give() const { (void)!::write(pipe_.writing.get(), ".", 1); }
  // Those that were given before count, too, unless forget() was called.
  void await(int times) const {
    for (char sign = 0; times > 0; --times) {
      pollfd comes{pipe_.reading.get(), POLLIN, 0};
      ASSERT_EQ(::poll(&comes, 1, 60'000), 1);
      ASSERT_EQ(::read(pipe_.reading.get(), &sign, 1), 1);
    }
  }
  void forget() const {
    pollfd is_there{pipe_.reading.get(), POLLIN, 0};
    while (::poll(&is_there, 1, 0) == 1) await(1);
  }

 private:
  process::Pipe pipe_;
};

bool says_that_an_end_waits(std::string_view line) {
  return line.starts_with("the end of job ") && line.find(" waits: ") != std::string_view::npos;
}

class JobAgentTest : public testing::Test {
 protected:
  // A job that runs this line of a shell.
  JobRecord create(const std::string& script, double max_run_seconds = 60, double grace_seconds = 30) {
    JobOrder order;
    order.name = "job-" + std::to_string(++jobs_made_);
    order.submitted_unix_ns = system_clock().unix_ns();
    order.program = {"sh", "-c", script};
    order.environment = {{"FOR_THE_JOB", "yes"}};
    order.folder = folder_.path().string();
    order.max_run_seconds = max_run_seconds;
    order.grace_seconds = grace_seconds;
    Result<JobRecord> job = JobRecord::create(place_, order);
    EXPECT_TRUE(job.ok()) << job.status().to_string();
    return *job;
  }

  static std::vector<S> ways(const JobRecord& job) {
    std::vector<S> ways;
    for (const Transition& one : job.transitions().value_or({})) ways.push_back(one.status);
    return ways;
  }

  std::string output(const JobRecord& job) const {
    std::ifstream file(job.output());
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  // The program may print before its agent has said that it runs.
  static void await_training(const JobRecord& job) {
    ASSERT_TRUE(await([&] { return job.current()->status == S::kTraining; }));
  }

  // The agent in a thread of its own, while `meanwhile` goes on.
  static Status run_beside(JobRecord job, const std::function<void()>& meanwhile) {
    Status status;
    std::jthread agent([&] { status = run_agent(job, system_clock()); });
    meanwhile();
    agent.join();
    return status;
  }

  void await_output(const JobRecord& job, const std::string& text) const {
    ASSERT_TRUE(await([&] { return output(job).find(text) != std::string::npos; })) << output(job);
  }

  TestFolder folder_;
  storage::Location place_{folder_.path() / "jobs"};
  int jobs_made_ = 0;
};

// No file of this process may grow, as on a full disk.
class NoRoom {
 public:
  NoRoom() {
    ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit none{0, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &none);
  }
  ~NoRoom() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, SIG_DFL);
  }

 private:
  rlimit before_{};
};

TEST_F(JobAgentTest, AFullDiskAtItsEndLosesNothing) {
  JobRecord job = create("until [ -e go ]; do sleep 0.02; done; exit 3");
  std::atomic<bool> waits = false;
  set_log_sink([&](LogLevel, std::string_view line) {
    if (says_that_an_end_waits(line)) waits = true;
  });
  const Status status = run_beside(job, [&] {
    await_training(job);
    const NoRoom no_room;
    std::ofstream(folder_.path() / "go").flush();
    EXPECT_TRUE(await([&] { return waits.load(); }));
    EXPECT_EQ(job.current()->status, S::kTraining) << "it is not known as ended, nor lost";
    EXPECT_TRUE(job.has_agent(system_clock()));
  });
  set_log_sink({});
  EXPECT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(ways(job), (std::vector<S>{S::kPending, S::kStarting, S::kTraining, S::kFailed}));
  EXPECT_EQ((*job.read_exit(1))->code, 3);
}

TEST_F(JobAgentTest, AProgramThatSucceedsIsCompleted) {
  JobRecord job = create("echo \"here $FOR_THE_JOB\"; pwd; echo there >&2; read line || echo nothing to read");
  ASSERT_TRUE(run_agent(job, system_clock()).ok());
  EXPECT_EQ(ways(job), (std::vector<S>{S::kPending, S::kStarting, S::kTraining, S::kCompleted}));
  EXPECT_EQ(output(job), "here yes\n" + folder_.path().string() + "\nthere\nnothing to read\n");
  const auto exit = job.read_exit(1);
  ASSERT_TRUE(exit.ok() && *exit);
  EXPECT_EQ((*exit)->code, 0);
  EXPECT_GT((*exit)->wall_ns, 0);
  EXPECT_EQ(job.settle(system_clock())->status, S::kCompleted);
}

TEST_F(JobAgentTest, AProgramThatFailsOrIsKilledHasFailed) {
  JobRecord failing = create("exit 7");
  ASSERT_TRUE(run_agent(failing, system_clock()).ok());
  EXPECT_EQ(failing.current()->status, S::kFailed);
  EXPECT_EQ(failing.current()->message, "AlgorithmError: the program has ended with exit code 7");
  JobRecord killed = create("kill -9 $$");
  ASSERT_TRUE(run_agent(killed, system_clock()).ok());
  EXPECT_EQ(killed.current()->status, S::kFailed);
  EXPECT_EQ(killed.current()->message, "AlgorithmError: the program was ended by signal 9");
  EXPECT_EQ((*killed.read_exit(1))->signal, 9);
}

TEST_F(JobAgentTest, AProgramThatCannotBeStartedHasFailed) {
  JobOrder order = create("true").order();
  order.name = "other";
  order.program = {"/nowhere/to/be/found"};
  Result<JobRecord> job = JobRecord::create(place_, order);
  ASSERT_TRUE(job.ok() && run_agent(*job, system_clock()).ok());
  EXPECT_EQ(ways(*job), (std::vector<S>{S::kPending, S::kStarting, S::kFailed}));
  EXPECT_EQ(job->current()->message.find("ClientError: "), 0u);
}

TEST_F(JobAgentTest, AStopReachesTheProgram) {
  JobRecord job = create("trap 'echo saving; exit 0' TERM; echo ready; while :; do sleep 0.05; done");
  const Status status = run_beside(job, [&] {
    await_output(job, "ready");
    await_training(job);
    EXPECT_EQ(job.request_stop("user", "enough", system_clock())->status, S::kStopping);
  });
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(ways(job), (std::vector<S>{S::kPending, S::kStarting, S::kTraining, S::kStopping, S::kStopped}));
  EXPECT_NE(output(job).find("saving"), std::string::npos);
}

TEST_F(JobAgentTest, AProgramThatIgnoresAStopIsKilledWithAllThatItStarted) {
  JobRecord job = create("trap '' TERM; (trap '' TERM; sleep 300) & echo child $!; wait; sleep 300", 60, 0.3);
  const Status status = run_beside(job, [&] {
    await_output(job, "child");
    ASSERT_TRUE(job.request_stop("user", "enough", system_clock()).ok());
  });
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(job.current()->status, S::kStopped);
  EXPECT_EQ(job.current()->message, "it did not end by itself and was killed");
  const pid_t child = std::stoi(output(job).substr(6));
  EXPECT_TRUE(ends_soon(child)) << "the child " << child << " is still there";
}

TEST_F(JobAgentTest, WhatAProgramLeavesBehindIsKilled) {
  JobRecord job = create("sleep 300 & echo child $!");
  ASSERT_TRUE(run_agent(job, system_clock()).ok());
  EXPECT_EQ(job.current()->status, S::kCompleted);
  const pid_t child = std::stoi(output(job).substr(6));
  EXPECT_TRUE(ends_soon(child)) << "the child " << child << " is still there";
}

TEST_F(JobAgentTest, ADaemonThatItLeavesBehindIsKilled) {
  JobRecord job =
      create("setsid sh -c 'echo $$; touch begun; exec sleep 300' & until [ -e begun ]; do sleep 0.01; done");
  ASSERT_TRUE(run_agent(job, system_clock()).ok());
  EXPECT_EQ(job.current()->status, S::kCompleted);
  const pid_t daemon = std::stoi(output(job));
  EXPECT_TRUE(ends_soon(daemon)) << "the daemon " << daemon << " is still there";
}

TEST_F(JobAgentTest, AJobHasItsTimeAndNoMore) {
  JobRecord job = create("trap 'exit 0' TERM; while :; do sleep 0.05; done", 0.3);
  ASSERT_TRUE(run_agent(job, system_clock()).ok());
  EXPECT_EQ(ways(job), (std::vector<S>{S::kPending, S::kStarting, S::kTraining, S::kStopping, S::kMaxRuntimeExceeded}));
  EXPECT_EQ(job.transitions()->at(3).cause, "max_run");
}

TEST_F(JobAgentTest, AJobThatIsStoppedBeforeItsStartDoesNotStart) {
  JobRecord job = create("echo started");
  ASSERT_TRUE(job.request_stop("user", "enough", system_clock()).ok());
  ASSERT_TRUE(run_agent(job, system_clock()).ok());
  EXPECT_EQ(ways(job), (std::vector<S>{S::kPending, S::kStopping, S::kStopped}));
  EXPECT_EQ(output(job), "");
}

TEST_F(JobAgentTest, AJobThatIsResumedGoesOnAsTheNextAttempt) {
  JobRecord job = create("echo attempt $TRAINWARDEN_JOB_ATTEMPT; test $TRAINWARDEN_JOB_ATTEMPT = 2");
  ASSERT_TRUE(run_agent(job, system_clock()).ok());
  EXPECT_EQ(job.current()->status, S::kFailed);
  ASSERT_TRUE(job.resume("go on", system_clock()).ok());
  ASSERT_TRUE(run_agent(job, system_clock()).ok());
  EXPECT_EQ(job.current()->status, S::kCompleted);
  EXPECT_EQ(output(job), "attempt 1\nattempt 2\n");
  EXPECT_EQ((*job.read_exit(1))->code, 1);
  EXPECT_EQ((*job.read_exit(2))->code, 0);
}

TEST_F(JobAgentTest, TheTimeOfAllAttemptsCounts) {
  constexpr std::int64_t kHours = 100;
  JobRecord job = create(
      "trap 'exit 0' TERM; test $TRAINWARDEN_JOB_ATTEMPT != 1 || until [ -e go ]; do sleep 0.02; done; "
      "test $TRAINWARDEN_JOB_ATTEMPT != 1 || exit 1; while :; do sleep 0.02; done",
      kHours * 3600);
  FakeClock clock(system_clock().unix_ns());
  {
    std::jthread agent([&] { EXPECT_TRUE(run_agent(job, clock).ok()); });
    await_training(job);
    clock.advance_ns(kHours * 3600 * 1'000'000'000);
    std::ofstream(folder_.path() / "go").flush();
  }
  EXPECT_EQ(job.current()->status, S::kFailed);
  for (const char* attempt : {"second", "third"}) {
    ASSERT_TRUE(job.resume("go on", clock).ok());
    ASSERT_TRUE(run_agent(job, clock).ok());
    EXPECT_EQ(job.current()->status, S::kMaxRuntimeExceeded) << "no time was left to the " << attempt;
  }
}

TEST_F(JobAgentTest, AnAttemptKeepsToItsAllocation) {
  JobRecord job = create("nproc; echo \"gpus '$CUDA_VISIBLE_DEVICES' threads $OMP_NUM_THREADS\"");
  ASSERT_TRUE(job.write_allocation(1, {{{0}}, {{2, 3}}, 0, ""}).ok());
  ASSERT_TRUE(run_agent(job, system_clock()).ok());
  EXPECT_EQ(output(job), "1\ngpus '2,3' threads 1\n");
}

// A tree as version 2 shows it, in which the program has used up its memory.
TEST_F(JobAgentTest, AProgramThatUsedUpItsMemoryFailsByThatName) {
  const std::filesystem::path root = folder_.path() / "cgroup";
  JobRecord job = create("kill -9 $$");
  const std::string key = attempt_key(job.place().absolute().path(), 1);
  std::filesystem::create_directories(root / "ours" / key);
  const auto write = [&](const std::filesystem::path& file, const char* text) { std::ofstream(root / file) << text; };
  write("cgroup.controllers", "memory\n");
  for (const char* file : {"cgroup.procs", "cgroup.kill", "memory.max"}) write("ours/" + key + "/" + file, "");
  write("ours/" + key + "/memory.peak", "1048576\n");
  write("ours/" + key + "/memory.events", "oom 1\noom_kill 1\n");
  ASSERT_TRUE(job.write_allocation(1, {{}, {}, 1 << 20, "ours"}).ok());
  ASSERT_TRUE(run_agent(job, system_clock(), {.control_groups = root}).ok());
  EXPECT_EQ(job.current()->message, "AlgorithmError: out of memory: the program was ended by signal 9");
  const auto exit = job.read_exit(1);
  ASSERT_TRUE(exit.ok() && *exit);
  EXPECT_TRUE((*exit)->out_of_memory);
  EXPECT_EQ((*exit)->peak_memory_bytes, 1U << 20);
  const auto setup = job.read_setup(1);
  ASSERT_TRUE(setup.ok() && *setup);
  EXPECT_EQ((*setup)->memory, "1.0 MiB at most: control group ours/" + key + " (version 2)");
  std::ifstream entered(root / "ours" / key / "cgroup.procs");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(entered), {}), "0");
}

TEST_F(JobAgentTest, MemoryThatNothingEnforcesIsSaidSo) {
  JobRecord job = create("true");
  ASSERT_TRUE(job.write_allocation(1, {{}, {}, 1 << 20, ""}).ok());
  ASSERT_TRUE(run_agent(job, system_clock()).ok());
  EXPECT_EQ(job.current()->status, S::kCompleted);
  EXPECT_EQ(
      (*job.read_setup(1))->memory,
      "counted, and not enforced: no control group is set aside for jobs (trainwarden job queue --control-group)");
  EXPECT_GT((*job.read_exit(1))->cpu_ns.value_or(0), 0);
  EXPECT_FALSE((*job.read_exit(1))->out_of_memory);
}

TEST(CommandOfAttempt, OnlyALauncherGetsWhatBelongsToTheAttempt) {
  JobOrder order;
  order.program = {"./train", "--epochs", "3"};
  EXPECT_EQ(command_of_attempt(order, "/x/launch.json", 2), order.program);
  order.launcher = {"trainwarden", "run"};
  EXPECT_EQ(command_of_attempt(order, "/x/launch.json", 1),
            (std::vector<std::string>{"trainwarden", "run", "--exit-record", "/x/launch.json", "--", "./train",
                                      "--epochs", "3"}));
  EXPECT_EQ(command_of_attempt(order, "/x/launch.json", 2)[2], "--resume");
}

// The machine goes down, or a scheduler wants the place: SIGTERM to the agent, not to the job.
TEST_F(JobAgentTest, AnAgentThatIsAskedToEndLetsTheProgramSaveAndTheJobGoOn) {
  for (const bool may_go_on : {true, false}) {
    JobOrder order = create("trap 'echo saving; exit 0' TERM; echo ready; while :; do sleep 0.02; done").order();
    order.name += "-asked";
    order.preemptible = may_go_on;
    Result<JobRecord> job = JobRecord::create(place_, order);
    ASSERT_TRUE(job.ok());
    const Signs looks;
    const pid_t agent = ::fork();
    if (agent == 0) {
      process::SignalRelay signals;
      _exit(run_agent(*job, system_clock(), {.signals = &signals, .look = [&] { looks.give(); }}).ok() ? 0 : 1);
    }
    await_output(*job, "ready");
    await_training(*job);
    ::kill(agent, SIGHUP);
    looks.forget();
    looks.await(3);  // the signal came before the second, and what it asks for before the third
    EXPECT_EQ(job->current()->status, S::kTraining) << "that the terminal is gone is nothing";
    EXPECT_EQ(output(*job), "ready\n");
    ::kill(agent, SIGTERM);
    int status = -1;
    ::waitpid(agent, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(job->current()->status, may_go_on ? S::kInterrupted : S::kFailed);
    EXPECT_EQ(output(*job), "ready\nsaving\n");
    EXPECT_TRUE((*job->read_exit(1))->preempted);
  }
}

// An agent of its own process, whose files cannot grow for a while.
class CrampedAgent {
 public:
  explicit CrampedAgent(JobRecord& job) {
    id_ = ::fork();
    if (id_ != 0) return;
    process::SignalRelay signals;
    ::signal(SIGXFSZ, SIG_IGN);
    set_log_sink([this](LogLevel, std::string_view line) {
      if (says_that_an_end_waits(line)) end_waits_.give();
    });
    _exit(run_agent(job, system_clock(), {.signals = &signals}).ok() ? 0 : 1);
  }
  ~CrampedAgent() {
    ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
  }
  void await_end_that_waits() const { end_waits_.await(1); }
  void set_room(rlim_t bytes) const {
    const rlimit limit{bytes, RLIM_INFINITY};
    EXPECT_EQ(::prlimit(id_, RLIMIT_FSIZE, &limit, nullptr), 0);
  }

 private:
  Signs end_waits_;
  pid_t id_ = -1;
};

TEST_F(JobAgentTest, AStopThatCannotBeWrittenEndsTheProgram) {
  JobRecord job = create("trap 'echo saving; exit 0' TERM; echo ready; while :; do sleep 0.02; done");
  CrampedAgent agent(job);
  await_output(job, "ready");
  await_training(job);
  agent.set_room(0);
  const Status asked = job.signal_agent_to_stop();
  EXPECT_TRUE(asked.ok()) << asked.to_string();
  await_output(job, "saving");
  agent.await_end_that_waits();
  EXPECT_EQ(job.settle(system_clock())->status, S::kTraining) << "nobody says that it has failed";
  agent.set_room(RLIM_INFINITY);
  EXPECT_TRUE(await([&] { return !job.has_agent(system_clock()); }));
  EXPECT_EQ(ways(job), (std::vector<S>{S::kPending, S::kStarting, S::kTraining, S::kStopping, S::kStopped}));
  EXPECT_EQ(job.transitions()->at(3).cause, "user");
  EXPECT_EQ(job.signal_agent_to_stop().code(), Code::kNotFound);
}

TEST_F(JobAgentTest, AJobHasItsTimeAndNoMoreAlsoOnAFullDisk) {
  JobRecord job = create("trap 'echo saving; exit 0' TERM; while :; do sleep 0.02; done", 1);
  CrampedAgent agent(job);
  await_training(job);
  agent.set_room(0);
  await_output(job, "saving");
  agent.set_room(RLIM_INFINITY);
  EXPECT_TRUE(await([&] { return !job.has_agent(system_clock()); }));
  EXPECT_EQ(job.current()->status, S::kMaxRuntimeExceeded);
}

TEST_F(JobAgentTest, AJobIsRunOnce) {
  JobRecord job = create("echo started");
  ASSERT_TRUE(run_agent(job, system_clock()).ok());
  EXPECT_EQ(run_agent(job, system_clock()).code(), Code::kFailedPrecondition);
  EXPECT_EQ(output(job), "started\n");
}

// kill -9 of an agent: the program goes with it, and the next look says so.
TEST_F(JobAgentTest, AnAgentThatDiesTakesItsProgramAlong) {
  JobRecord job = create("sleep 300 & echo $! $$; wait");
  const pid_t agent = ::fork();
  if (agent == 0) _exit(run_agent(job, system_clock()).ok() ? 0 : 1);
  await_output(job, "\n");
  const pid_t grandchild = std::stoi(output(job));
  const pid_t program = std::stoi(output(job).substr(output(job).find(' ')));
  EXPECT_FALSE(is_terminal(job.settle(system_clock())->status));
  ::kill(agent, SIGKILL);
  ::waitpid(agent, nullptr, 0);
  EXPECT_TRUE(ends_soon(program)) << "the program " << program << " is still there";
  const auto settled = job.settle(system_clock());
  ASSERT_TRUE(settled.ok());
  EXPECT_EQ(settled->status, S::kFailed);
  EXPECT_EQ(settled->cause, "agent lost");
  EXPECT_TRUE(ends_soon(grandchild)) << "what the program had started, " << grandchild << ", is still there";
  EXPECT_EQ(job.settle(system_clock())->seq, settled->seq);
}

}  // namespace
}  // namespace trainwarden::jobs
