// What Slurm does that one would not expect, on its real daemons. The numbers are those of docs/reference/slurm.md.
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <thread>

#include <signal.h>
#include <unistd.h>

#include "core/base/text.h"
#include "slurm_cluster.h"
#include "work/slurm/slurm_batch.h"
#include "work/slurm/slurm_control.h"
#include "work/slurm/slurm_witness.h"

namespace trainwarden::slurm {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr int kKillWait = 2;

// One cluster for all tests. What takes a minute by its nature begins before them and is looked at last.
class SlurmTraps : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (SlurmCluster::missing()) return;
    cluster_ = std::make_unique<SlurmCluster>(std::vector<std::string>{
        "--nodes", "2", "--cpus", "8", "--kill-wait", std::to_string(kKillWait), "--forget-after", "20"});
    cancelled_early_ = cluster_->submit({}, "sleep 600");
    if (cluster_->await(cancelled_early_, Standing::kRunning)) {
      EXPECT_TRUE(cancel(cluster_->commands(), {cancelled_early_, {}}).ok());
    }
    warned_ = cluster_->submit({"--time=1", "--signal=B:USR1@30"},
                               "began=$(date +%s); trap 'expr $(date +%s) - $began > " + path("warned") +
                                   "; exit' USR1; while :; do sleep 0.1; done");
    out_of_time_ = cluster_->submit({"--time=1"}, "trap 'exit 143' TERM; while :; do sleep 0.1; done");
    began_ = steady_clock::now();
  }
  static void TearDownTestSuite() { cluster_.reset(); }

  void SetUp() override {
    if (const auto missing = SlurmCluster::missing()) GTEST_SKIP() << *missing;
  }

  static std::string path(const std::string& name) { return (cluster_->folder() / name).string(); }
  static std::string text(const std::string& name) {
    std::ifstream file(path(name));
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  static bool is_there(const std::string& name) { return ::access(path(name).c_str(), F_OK) == 0; }
  static Status scancel(const std::vector<std::string>& arguments,
                        std::chrono::milliseconds timeout = kCommandTimeout) {
    return cluster_->commands().run(SlurmTool::kScancel, arguments, timeout).status();
  }
  static std::string scontrol(const std::vector<std::string>& arguments) {
    return cluster_->commands().run(SlurmTool::kScontrol, arguments).value_or("");
  }

  static std::unique_ptr<SlurmCluster> cluster_;
  static std::int64_t cancelled_early_;
  static std::int64_t warned_;
  static std::int64_t out_of_time_;
  static steady_clock::time_point began_;
};

std::unique_ptr<SlurmCluster> SlurmTraps::cluster_;
std::int64_t SlurmTraps::cancelled_early_ = 0;
std::int64_t SlurmTraps::warned_ = 0;
std::int64_t SlurmTraps::out_of_time_ = 0;
steady_clock::time_point SlurmTraps::began_;

TEST_F(SlurmTraps, T01_BothWaysOfListingSayTheSame) {
  const std::int64_t id = cluster_->submit({"--job-name=a-b", "--comment=c-1", "--no-requeue"}, "sleep 600");
  ASSERT_TRUE(cluster_->await(id, Standing::kRunning));
  const auto by_json =
      parse_squeue_json(cluster_->commands().run(SlurmTool::kSqueue, {"--json", "--states=all"}).value_or(""));
  ASSERT_TRUE(by_json.ok()) << by_json.status().to_string();
  const auto by_text = parse_scontrol_jobs(scontrol({"-o", "show", "job"}));
  const SlurmJob* const a = find_job(*by_json, {id, {}});
  const SlurmJob* const b = find_job(by_text, {id, {}});
  ASSERT_TRUE(a != nullptr && b != nullptr);
  for (const SlurmJob* const job : {a, b}) {
    EXPECT_EQ(job->states, std::vector<std::string>{"RUNNING"});
    EXPECT_EQ(job->name, "a-b");
    EXPECT_EQ(job->comment, "c-1");
    EXPECT_EQ(job->user, ::getuid());
    EXPECT_TRUE(job->nodes == "node1" || job->nodes == "node2") << job->nodes;
    EXPECT_FALSE(job->requeues);
  }
  EXPECT_TRUE(cancel(cluster_->commands(), {id, {}}).ok());
}

TEST_F(SlurmTraps, T02_AnExitCodeIsTheStatusOfWait) {
  const std::int64_t seven = cluster_->submit({}, "exit 7");
  const std::int64_t killed = cluster_->submit({}, "kill -9 $$");
  const std::int64_t trapped = cluster_->submit({}, "exit 143");
  EXPECT_EQ(cluster_->await_end(seven)->exit, (SlurmExit{7, std::nullopt}));
  EXPECT_EQ(cluster_->await_end(killed)->exit, (SlurmExit{std::nullopt, 9}));
  EXPECT_EQ(cluster_->await_end(trapped)->exit, (SlurmExit{143, std::nullopt}));
  const auto by_text = parse_scontrol_jobs(scontrol({"-o", "show", "job"}));
  EXPECT_EQ(find_job(by_text, {killed, {}})->exit, (SlurmExit{std::nullopt, 9}));
  EXPECT_EQ(find_job(by_text, {trapped, {}})->exit, (SlurmExit{143, std::nullopt}));
}

TEST_F(SlurmTraps, T04_OnlyASignalToTheScriptAloneGivesItTime) {
  const std::string script =
      "trap 'touch " + path("asked") + "' TERM; touch " + path("ready") + "; while :; do sleep 0.1; done";
  const std::int64_t id = cluster_->submit({}, script);
  ASSERT_TRUE(comes_true([] { return is_there("ready"); }));
  ASSERT_TRUE(ask_to_end(cluster_->commands(), *cluster_->find(id)).ok());
  ASSERT_TRUE(comes_true([] { return is_there("asked"); }));
  std::this_thread::sleep_for(std::chrono::seconds(kKillWait + 2));
  EXPECT_EQ(cluster_->standing(id), Standing::kRunning) << "it has all the time it needs";
  ASSERT_TRUE(cancel(cluster_->commands(), {id, {}}).ok());
  const auto job = cluster_->await_end(id);
  ASSERT_TRUE(job);
  EXPECT_EQ(standing_of(job->states), Standing::kCancelled);
  EXPECT_EQ(job->exit, (SlurmExit{std::nullopt, 9})) << "KillWait is all that Slurm's own cancel gives";
}

TEST_F(SlurmTraps, T05_ASignalWithoutBatchDoesNotReachTheScript) {
  const std::string script =
      "trap 'touch " + path("usr2") + "' USR2; touch " + path("ready5") + "; while :; do sleep 0.1; done";
  const std::int64_t id = cluster_->submit({}, script);
  ASSERT_TRUE(comes_true([] { return is_there("ready5"); }));
  ASSERT_TRUE(scancel({"--signal=USR2", std::to_string(id)}).ok());
  std::this_thread::sleep_for(1s);
  EXPECT_FALSE(is_there("usr2"));
  ASSERT_TRUE(scancel({"--batch", "--signal=USR2", std::to_string(id)}).ok());
  EXPECT_TRUE(comes_true([] { return is_there("usr2"); }));
  EXPECT_TRUE(cancel(cluster_->commands(), {id, {}}).ok());
}

TEST_F(SlurmTraps, T06_AShellDiesOfTheSignalAndAnAgentInItsPlaceDoesNot) {
  // Slurm calls a job running before its shell is there to get a signal.
  const std::int64_t shell = cluster_->submit({}, "touch " + path("shell6") + "; sleep 600");
  ASSERT_TRUE(comes_true([] { return is_there("shell6"); }));
  const auto running = cluster_->await(shell, Standing::kRunning);
  ASSERT_TRUE(running);
  ASSERT_TRUE(ask_to_end(cluster_->commands(), *running).ok());
  const auto dead = cluster_->await_end(shell);
  ASSERT_TRUE(dead);
  EXPECT_EQ(standing_of(dead->states), Standing::kFailed);
  EXPECT_EQ(dead->reason, "JobLaunchFailure") << "as if it had never begun";
  EXPECT_EQ(dead->exit, (SlurmExit{std::nullopt, 15}));

  BatchRequest request;
  request.name = "agent";
  request.folder = cluster_->folder().string();
  request.output = "/dev/null";
  request.memory_bytes = std::uint64_t{10} << 20;
  request.max_run_seconds = 600;
  request.command = {
      "/bin/sh", "-c",
      "trap 'touch " + path("ended") + "; exit 0' TERM; touch " + path("ready6") + "; while :; do sleep 0.1; done"};
  std::ofstream(path("agent.sh")) << batch_script(request);
  const auto submitted = cluster_->commands().run(SlurmTool::kSbatch, sbatch_arguments(request, path("agent.sh")));
  ASSERT_TRUE(submitted.ok()) << submitted.status().to_string();
  const std::int64_t agent = parse_int(trim(*submitted)).value_or(0);
  ASSERT_TRUE(comes_true([] { return is_there("ready6"); }));
  ASSERT_TRUE(ask_to_end(cluster_->commands(), *cluster_->find(agent)).ok());
  const auto ended = cluster_->await_end(agent);
  ASSERT_TRUE(ended);
  EXPECT_EQ(standing_of(ended->states), Standing::kEnded);
  EXPECT_TRUE(is_there("ended"));
}

TEST_F(SlurmTraps, T07_SlurmsWordForAStopIsTheScriptsExitCode) {
  const std::string script =
      "trap 'exit 42' TERM; touch " + path("ready7-$SLURM_JOB_ID") + "; while :; do sleep 0.1; done";
  KnownOfJob known;
  known.stop_cause = "user";
  const std::int64_t asked = cluster_->submit({}, script);
  const std::int64_t cancelled = cluster_->submit({}, script);
  ASSERT_TRUE(comes_true(
      [&] { return is_there("ready7-" + std::to_string(asked)) && is_there("ready7-" + std::to_string(cancelled)); }));
  ASSERT_TRUE(ask_to_end(cluster_->commands(), *cluster_->find(asked)).ok());
  ASSERT_TRUE(cancel(cluster_->commands(), {cancelled, {}}).ok());
  const auto first = cluster_->await_end(asked);
  const auto second = cluster_->await_end(cancelled);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(standing_of(first->states), Standing::kFailed);
  EXPECT_EQ(standing_of(second->states), Standing::kCancelled);
  for (const SlurmJob& job : {*first, *second}) {
    EXPECT_EQ(job.exit, (SlurmExit{42, std::nullopt}));
    EXPECT_EQ(opinion_of(standing_of(job.states), job.reason, known).phase, jobs::JobPhase::kStopped);
  }
}

TEST_F(SlurmTraps, T08_ASignalToAJobThatWaitsHangs) {
  const std::int64_t id = cluster_->submit({"--hold"}, "sleep 600");
  ASSERT_TRUE(cluster_->await(id, Standing::kQueued));
  EXPECT_EQ(scancel({"--batch", "--signal=TERM", std::to_string(id)}, 3s).code(), Code::kUnavailable);
  const auto begin = steady_clock::now();
  ASSERT_TRUE(ask_to_end(cluster_->commands(), *cluster_->find(id)).ok());
  EXPECT_LT(steady_clock::now() - begin, 3s);
  EXPECT_TRUE(cluster_->await(id, Standing::kCancelled));
}

TEST_F(SlurmTraps, T11_ARequeuedJobKeepsItsNumberAndWaitsTwoMinutes) {
  const std::string script = "echo \"${SLURM_RESTART_COUNT:-none}\" >> " + path("attempts") + "; sleep 600";
  const std::int64_t id = cluster_->submit({"--requeue"}, script);
  ASSERT_TRUE(comes_true([] { return text("attempts") == "none\n"; }));
  ASSERT_TRUE(requeue(cluster_->commands(), {id, {}}).ok());
  const auto waiting = cluster_->await(id, Standing::kQueued);
  ASSERT_TRUE(waiting);
  EXPECT_EQ(waiting->restarts, 1);
  // The reason is the scheduler's, which looks at the queue a moment later.
  EXPECT_TRUE(comes_true([id] {
    const auto job = cluster_->find(id);
    return job && job->reason == "BeginTime";
  }));
  ASSERT_TRUE(start_soon(cluster_->commands(), {id, {}}).ok());
  EXPECT_TRUE(comes_true([] { return text("attempts") == "none\n1\n"; }, 30s));
  EXPECT_TRUE(cancel(cluster_->commands(), {id, {}}).ok());
}

TEST_F(SlurmTraps, T12_TasksOfAnArrayChangeTheirNumbers) {
  const std::int64_t array = cluster_->submit({"--array=0-2%1"}, "sleep 600");
  ASSERT_TRUE(comes_true([&] {
    const auto task = cluster_->find(SlurmKey{array, 0});
    return task && standing_of(task->states) == Standing::kRunning;
  }));
  EXPECT_NE(cluster_->find(SlurmKey{array, 0})->id, array);
  const auto rest = cluster_->find(SlurmKey{array, std::nullopt});
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->waiting_tasks, "1-2%1");
  ASSERT_TRUE(cancel(cluster_->commands(), {array, 0}).ok());
  ASSERT_TRUE(cancel(cluster_->commands(), {array, 1}).ok());
  ASSERT_TRUE(comes_true([&] {
    const auto task = cluster_->find(SlurmKey{array, 2});
    return task && standing_of(task->states) == Standing::kRunning;
  }));
  EXPECT_EQ(cluster_->find(SlurmKey{array, 2})->id, array) << "the last one gets the number of them all";
  EXPECT_TRUE(cancel(cluster_->commands(), {array, {}}).ok());
}

TEST_F(SlurmTraps, T14_WhatTheClusterDoesNotHaveIsRefusedAtOnce) {
  const Status status =
      cluster_->commands().run(SlurmTool::kSbatch, {"--parsable", "--mem=10M", "--gres=gpu:1", "--wrap=true"}).status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_EQ(status.message(), "sbatch: Invalid generic resource (gres) specification");
}

TEST_F(SlurmTraps, T16_FiltersDoNotHoldForJson) {
  const std::int64_t id = cluster_->submit({"--hold"}, "true");
  const auto listed = cluster_->commands().run(SlurmTool::kSqueue, {"--json", "--user=nobody", "--name=no-such-name"});
  const auto jobs = parse_squeue_json(listed.value_or(""));
  ASSERT_TRUE(jobs.ok()) << jobs.status().to_string();
  // Newer versions keep to them, and then have nothing.
  EXPECT_TRUE(jobs->empty() || find_job(*jobs, {id, {}}) != nullptr);
  const auto all = list_jobs(cluster_->commands());
  ASSERT_TRUE(all.ok());
  EXPECT_NE(find_job(*all, {id, {}}), nullptr) << "which we do not rely on";
  EXPECT_TRUE(cancel(cluster_->commands(), {id, {}}).ok());
}

// Those that have begun before all others.

TEST_F(SlurmTraps, T09_AWarningComesUpToAMinuteEarly) {
  ASSERT_TRUE(cluster_->await_end(warned_));
  const auto seconds = parse_int(trim(text("warned")));
  ASSERT_TRUE(seconds);
  EXPECT_LT(*seconds, 45) << "it was to come 30 s before the end of one minute";
}

TEST_F(SlurmTraps, T10_ALimitOfTimeIsKeptToTheMinute) {
  const auto job = cluster_->await_end(out_of_time_);
  ASSERT_TRUE(job);
  EXPECT_GE(steady_clock::now() - began_, 55s);
  EXPECT_EQ(standing_of(job->states), Standing::kOutOfTime);
  EXPECT_EQ(job->exit, (SlurmExit{143, std::nullopt})) << "it has ended by itself, and is out of time all the same";
}

TEST_F(SlurmTraps, T03_AJobIsForgottenAndWhatIsLeftOfItSaysLittle) {
  ASSERT_TRUE(comes_true(
      [] {
        const auto jobs = list_jobs(cluster_->commands());
        return jobs.ok() && find_job(*jobs, {cancelled_early_, {}}) == nullptr;
      },
      150s));
  EXPECT_EQ(cluster_->commands()
                .run(SlurmTool::kScontrol, {"-o", "show", "job", std::to_string(cancelled_early_)})
                .status()
                .code(),
            Code::kNotFound);
  EXPECT_FALSE(cluster_->commands().run(SlurmTool::kSacct, {"--noheader"}).ok()) << "there is no accounting";
  const auto witnesses = ask_witnesses(cluster_->commands(), {cancelled_early_});
  ASSERT_EQ(witnesses.size(), 1U);
  EXPECT_EQ(standing_of(witnesses[0].states), Standing::kCancelled);
  EXPECT_EQ(witnesses[0].exit, SlurmExit());
}

// The last: a controller that is stopped when it is to warn a job, or to end one, may not do so any more.
TEST_F(SlurmTraps, T13_ASilentControllerSaysNothingAboutAJobThatRuns) {
  const std::int64_t id =
      cluster_->submit({}, "touch " + path("ready13") + "; until test -e " + path("go13") + "; do sleep 0.1; done");
  ASSERT_TRUE(comes_true([] { return is_there("ready13"); }));
  cluster_->stop("controller");
  EXPECT_EQ(list_jobs(cluster_->commands()).status().code(), Code::kUnavailable);
  EXPECT_EQ(cancel(cluster_->commands(), {id, {}}).code(), Code::kUnavailable);
  cluster_->start("controller");
  EXPECT_TRUE(cluster_->await(id, Standing::kRunning)) << "it goes on";
  std::ofstream(path("go13")) << "go";
  const auto job = cluster_->await_end(id);
  ASSERT_TRUE(job);
  EXPECT_EQ(standing_of(job->states), Standing::kEnded);
}

// A cluster that follows processes by their parents loses what a shell leaves behind; an agent ends it first.
TEST(SlurmTrapsOfParents, T06b_AChildOfADeadShellGoesOnUnseen) {
  if (const auto missing = SlurmCluster::missing()) GTEST_SKIP() << *missing;
  SlurmCluster cluster({"--proctrack", "linuxproc", "--kill-wait", std::to_string(kKillWait)});
  const std::string child = (cluster.folder() / "child").string();
  const std::int64_t id = cluster.submit({}, "sh -c 'echo $$ > " + child + "; exec sleep 600' & wait");
  const auto child_id = [&child] {
    std::ifstream file(child);
    std::string line;
    std::getline(file, line);
    return static_cast<pid_t>(parse_int(line).value_or(0));
  };
  ASSERT_TRUE(comes_true([&] { return child_id() > 1; }));
  ASSERT_TRUE(ask_to_end(cluster.commands(), *cluster.find(id)).ok());
  ASSERT_TRUE(cluster.await_end(id));
  std::this_thread::sleep_for(std::chrono::seconds(kKillWait + 1));
  EXPECT_EQ(::kill(child_id(), 0), 0) << "Slurm says that the job has ended";
  ::kill(child_id(), SIGKILL);
}

}  // namespace
}  // namespace trainwarden::slurm
