// Jobs as a user submits them, on Slurm's real daemons.
#include <gtest/gtest.h>

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/folder_variables.h"
#include "core/base/job_variables.h"
#include "core/base/text.h"
#include "core/process/captured_output.h"
#include "slurm_cluster.h"
#include "work/jobs/job_record.h"
#include "work/slurm/slurm_control.h"
#include "work/slurm/slurm_submission.h"

namespace trainwarden::slurm {
namespace {

using namespace std::chrono_literals;
using Lines = std::vector<std::string>;
using P = jobs::JobPhase;

struct Answer {
  int code = 0;
  std::string text;
  std::string errors;
};

class SlurmJobs : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (SlurmCluster::missing()) return;
    cluster_ = std::make_unique<SlurmCluster>(Lines{"--nodes", "2", "--cpus", "4", "--kill-wait", "3"});
  }
  static void TearDownTestSuite() { cluster_.reset(); }

  void SetUp() override {
    if (const auto missing = SlurmCluster::missing()) GTEST_SKIP() << *missing;
    ::setenv(variable::kJobs, (folder_.path() / "jobs").c_str(), 1);
    ::setenv(variable::kRuns, (folder_.path() / "runs").c_str(), 1);
  }

  Answer trainwarden(Lines words, const std::string& path = "") const {
    process::Program program;
    program.command = {TW_CLI};
    program.command.insert(program.command.end(), words.begin(), words.end());
    program.folder = folder_.path().string();
    if (!path.empty()) program.environment.set["PATH"] = path + ":" + std::getenv("PATH");
    const auto answer = process::capture_output(program, 1 << 20, 120s);
    EXPECT_TRUE(answer.ok()) << answer.status().to_string();
    return answer.ok() ? Answer{answer->exit.shell_code(), answer->text, answer->errors} : Answer{};
  }

  // A job whose program is this line of a shell, with these lines in its file.
  std::string write_job(const std::string& script, const std::string& more = "") const {
    const std::string file = (folder_.path() / "job.toml").string();
    std::ofstream(file) << "program = ['/bin/sh', '-c', '''" << script << "''']\nbackend = 'slurm'\nhook = false\n"
                        << "memory = '50 MiB'\n"
                        << more;
    return file;
  }
  Answer submit(const std::string& name, const std::string& script, const std::string& more = "",
                const std::string& path = "") const {
    return trainwarden({"submit", write_job(script, more), "--name", name}, path);
  }

  jobs::JobRecord record(const std::string& name) const {
    auto job = jobs::JobRecord::open(storage::Location(folder_.path() / "jobs"), name);
    EXPECT_TRUE(job.ok()) << job.status().to_string();
    return *job;
  }
  // As its files have it.
  std::vector<P> ways(const std::string& name) const {
    std::vector<P> ways;
    for (const jobs::Transition& one : record(name).transitions().value_or({})) ways.push_back(one.status);
    return ways;
  }
  P phase(const std::string& name) const { return ways(name).back(); }
  bool reaches(const std::string& name, P wanted, std::chrono::seconds within = 60s) const {
    return comes_true([&] { return phase(name) == wanted; }, within);
  }
  std::int64_t id(const std::string& name) const {
    const auto submission = newest_submission(record(name).place());
    return submission.ok() && *submission && (*submission)->submitted ? (*submission)->submitted->id : 0;
  }
  static std::string text_of(const std::filesystem::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  std::string output(const std::string& name) const { return text_of(record(name).output()); }
  bool prints(const std::string& name, const std::string& text) const {
    return comes_true([&] { return output(name).find(text) != std::string::npos; });
  }
  // For who reads that a test has failed.
  std::string story(const std::string& name) const {
    std::string text;
    for (const jobs::Transition& one : record(name).transitions().value_or({}))
      text += fmt::format("{} {}: {}\n", one.seq, jobs::name(one.status), one.message);
    for (const SlurmJob& job : list_jobs(cluster_->commands()).value_or({})) {
      if (job.name == name) text += fmt::format("in Slurm: {} {}\n", fmt::join(job.states, ","), job.reason);
    }
    return text + text_of(record(name).output()) + text_of(folder_.path() / "jobs" / name / "agent.log");
  }
  int count_in_slurm(const std::string& name) const {
    int count = 0;
    for (const SlurmJob& job : list_jobs(cluster_->commands()).value_or({})) count += job.name == name ? 1 : 0;
    return count;
  }
  // The processes that have this job in their environment.
  std::set<pid_t> processes(const std::string& name) const {
    std::set<pid_t> found;
    const std::string variable = fmt::format("{}={}", variable::kJobDir, (folder_.path() / "jobs" / name).string());
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const auto number = parse_int(entry.path().filename().string());
      if (!number) continue;
      std::ifstream file(entry.path() / "environ", std::ios::binary);
      const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
      if (text.find(variable + '\0') != std::string::npos) found.insert(static_cast<pid_t>(*number));
    }
    return found;
  }
  // Its agent: the process that holds the lease.
  pid_t agent(const std::string& name) const {
    const auto holder = record(name).place().storage().lock_holder("agent.lock");
    return static_cast<pid_t>(holder.value_or(0));
  }

  // Its agent is killed, and what Slurm has under its number is another job, as after a controller's end.
  void forget_in_slurm(const std::string& name) const {
    const std::string number = "jobid=" + std::to_string(id(name));
    const auto changed = cluster_->commands().run(SlurmTool::kScontrol, {"update", number, "comment=another"});
    ASSERT_TRUE(changed.ok()) << changed.status().to_string();
    ::kill(agent(name), SIGKILL);
    ASSERT_TRUE(cluster_->await_end(id(name)));
  }

  static std::unique_ptr<SlurmCluster> cluster_;
  TestFolder folder_;
};

std::unique_ptr<SlurmCluster> SlurmJobs::cluster_;

constexpr const char* kSecondAttemptEnds =
    "echo attempt $TRAINWARDEN_JOB_ATTEMPT; test $TRAINWARDEN_JOB_ATTEMPT = 2 || exec sleep 600";
const std::vector<P> kTwoAttempts = {P::kPending,    P::kStarting, P::kTraining, P::kInterrupted,
                                     P::kRestarting, P::kStarting, P::kTraining, P::kCompleted};

TEST_F(SlurmJobs, AJobRunsOnANodeAndEnds) {
  const Answer submitted = submit("first", "echo on $SLURMD_NODENAME attempt $TRAINWARDEN_JOB_ATTEMPT; exit 0");
  ASSERT_EQ(submitted.code, 0) << submitted.errors;
  EXPECT_EQ(submitted.text, "first\n");
  const Answer waited = trainwarden({"job", "wait", "first"});
  EXPECT_EQ(waited.code, 0) << waited.text << waited.errors;
  EXPECT_EQ(ways("first"), (std::vector<P>{P::kPending, P::kStarting, P::kTraining, P::kCompleted}));
  EXPECT_TRUE(output("first").starts_with("on node")) << output("first");
  EXPECT_NE(trainwarden({"job", "ls"}).text.find("first  Completed"), std::string::npos);
}

TEST_F(SlurmJobs, AProgramThatFailsSaysItsExitCode) {
  ASSERT_EQ(submit("fails", "exit 42").code, 0);
  EXPECT_EQ(trainwarden({"job", "wait", "fails"}).code, 1);
  EXPECT_EQ(record("fails").current()->message, "AlgorithmError: the program has ended with exit code 42");
}

TEST_F(SlurmJobs, ACopyOfAJobsFolderIsNotSubmitted) {
  ASSERT_EQ(submit("copied", "exit 42").code, 0);
  EXPECT_EQ(trainwarden({"job", "wait", "copied"}).code, 1);
  const std::filesystem::path other = folder_.path() / "other";
  std::filesystem::create_directories(other);
  std::filesystem::copy(folder_.path() / "jobs/copied", other / "copied", std::filesystem::copy_options::recursive);
  const Answer refused = trainwarden({"job", "resume", "copied", "--jobs", other.string()});
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.errors.find("job copied was not made by this user"), std::string::npos) << refused.errors;
  EXPECT_EQ(count_in_slurm("copied"), 1);
}

TEST_F(SlurmJobs, WhatSlurmRefusesHasFailedWithItsWords) {
  const Answer refused = submit("refused", "true", "gpus = 1\n");
  EXPECT_NE(refused.code, 0);
  EXPECT_NE(refused.errors.find("Invalid generic resource (gres) specification"), std::string::npos) << refused.errors;
  EXPECT_EQ(phase("refused"), P::kFailed);
}

TEST_F(SlurmJobs, AJobThatWaitsSaysWhyAndStopsAtOnce) {
  ASSERT_EQ(submit("all-nodes", "sleep 600", "nodes = 1\ncpus = 4\nmax_run = '10 min'\n").code, 0);
  ASSERT_EQ(submit("all-others", "sleep 600", "cpus = 4\n").code, 0);
  ASSERT_EQ(submit("waits", "touch begun", "cpus = 4\n").code, 0);
  ASSERT_TRUE(reaches("all-nodes", P::kTraining) && reaches("all-others", P::kTraining));
  EXPECT_TRUE(comes_true([&] {  // Slurm knows why only when it has looked for a place
    return trainwarden({"job", "describe", "waits"}).text.find("it waits in Slurm's queue (Resources)") !=
           std::string::npos;
  }));
  const Answer stopped = trainwarden({"job", "stop", "waits"});
  EXPECT_NE(stopped.text.find("waits: Stopped"), std::string::npos) << stopped.text << stopped.errors;
  for (const char* name : {"all-nodes", "all-others"}) EXPECT_EQ(trainwarden({"job", "stop", name, "--wait"}).code, 0);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "begun"));
  EXPECT_EQ(phase("all-nodes"), P::kStopped);
}

// Slurm's own cancel would kill it after KillWait, three seconds here.
TEST_F(SlurmJobs, AProgramThatIsStoppedHasItsGrace) {
  ASSERT_EQ(submit("saves", "trap 'sleep 5; echo saved; exit 3' TERM; echo ready; while :; do sleep 0.1; done").code,
            0);
  ASSERT_TRUE(prints("saves", "ready"));
  EXPECT_EQ(trainwarden({"job", "stop", "saves", "--wait"}).code, 0);
  EXPECT_EQ(phase("saves"), P::kStopped);
  EXPECT_NE(output("saves").find("saved"), std::string::npos) << output("saves");
}

TEST_F(SlurmJobs, WhatIsCancelledInSlurmIsStopped) {
  ASSERT_EQ(submit("cancelled", "echo ready; sleep 600", "retries = 3\n").code, 0);
  ASSERT_TRUE(prints("cancelled", "ready"));
  ASSERT_TRUE(cancel(cluster_->commands(), {id("cancelled"), {}}).ok());
  trainwarden({"job", "wait", "cancelled"});
  EXPECT_EQ(phase("cancelled"), P::kStopped);
  EXPECT_EQ(record("cancelled").current()->status, P::kStopped);
  EXPECT_TRUE(processes("cancelled").empty());
}

TEST_F(SlurmJobs, AJobWhoseTimeIsUpEndsByItsOwnLimit) {
  ASSERT_EQ(submit("long", "sleep 600", "max_run = 2\n").code, 0);
  trainwarden({"job", "wait", "long"});
  EXPECT_EQ(phase("long"), P::kMaxRuntimeExceeded);
}

TEST_F(SlurmJobs, ARequeuedJobGoesOnAsTheNextAttempt) {
  ASSERT_EQ(submit("again", kSecondAttemptEnds, "preemptible = true\n").code, 0);
  ASSERT_TRUE(prints("again", "attempt 1"));
  ASSERT_TRUE(requeue(cluster_->commands(), {id("again"), {}}).ok());
  ASSERT_TRUE(reaches("again", P::kInterrupted));
  ASSERT_TRUE(cluster_->await(id("again"), Standing::kQueued));
  EXPECT_NE(trainwarden({"job", "describe", "again"}).text.find("Interrupted"), std::string::npos);
  ASSERT_TRUE(start_soon(cluster_->commands(), {id("again"), {}}).ok());
  EXPECT_EQ(trainwarden({"job", "wait", "again"}).code, 0) << story("again");
  EXPECT_EQ(ways("again"), kTwoAttempts);
  EXPECT_NE(output("again").find("attempt 2"), std::string::npos);
  EXPECT_EQ(count_in_slurm("again"), 1);
}

TEST_F(SlurmJobs, AJobThatMakesRoomGoesOnLater) {
  ASSERT_EQ(submit("modest", kSecondAttemptEnds, "preemptible = true\nnodes = 1\ncpus = 4\n").code, 0);
  ASSERT_EQ(submit("modest-too", "sleep 600", "preemptible = true\ncpus = 4\n").code, 0);
  ASSERT_TRUE(prints("modest", "attempt 1") && reaches("modest-too", P::kTraining));
  const std::int64_t urgent = cluster_->submit({"--partition=urgent", "--nodes=2", "--cpus-per-task=4"}, "sleep 1");
  ASSERT_TRUE(reaches("modest", P::kInterrupted) && reaches("modest-too", P::kInterrupted));
  ASSERT_TRUE(cluster_->await_end(urgent));
  ASSERT_TRUE(start_soon(cluster_->commands(), {id("modest"), {}}).ok());
  EXPECT_EQ(trainwarden({"job", "wait", "modest"}).code, 0);
  EXPECT_EQ(trainwarden({"job", "stop", "modest-too"}).code, 0);
  EXPECT_EQ(phase("modest-too"), P::kStopped) << "while it waited in Slurm's queue";
}

// Slurm ends what belongs to it, and the program goes with its agent.
TEST_F(SlurmJobs, AnAgentThatIsKilledLeavesNothingBehind) {
  ASSERT_EQ(submit("orphan", "sleep 700 & echo ready; sleep 600").code, 0);
  ASSERT_TRUE(prints("orphan", "ready"));
  ASSERT_GT(agent("orphan"), 1);
  ::kill(agent("orphan"), SIGKILL);
  EXPECT_EQ(trainwarden({"job", "wait", "orphan"}).code, 1);
  EXPECT_EQ(phase("orphan"), P::kFailed);
  EXPECT_TRUE(comes_true([&] { return processes("orphan").empty(); }, 20s))
      << fmt::format("{}", fmt::join(processes("orphan"), " "));
  // The user may go on with it.
  ASSERT_EQ(trainwarden({"job", "resume", "orphan"}).code, 0);
  ASSERT_TRUE(comes_true([&] { return phase("orphan") == P::kTraining; }));
  EXPECT_EQ(jobs::attempt_of(*record("orphan").transitions()), 2);
  EXPECT_EQ(trainwarden({"job", "stop", "orphan", "--wait"}).code, 0);
  EXPECT_EQ(phase("orphan"), P::kStopped);
}

TEST_F(SlurmJobs, ALostAgentsJobGoesOnWhileItHasRetries) {
  ASSERT_EQ(submit("tough", kSecondAttemptEnds, "retries = 1\n").code, 0);
  ASSERT_TRUE(prints("tough", "attempt 1"));
  ::kill(agent("tough"), SIGKILL);
  const Answer waited = trainwarden({"job", "wait", "tough"});
  EXPECT_EQ(waited.code, 0) << waited.text << waited.errors;
  EXPECT_EQ(ways("tough"), kTwoAttempts);
  EXPECT_EQ(count_in_slurm("tough"), 1);
}

TEST_F(SlurmJobs, WhenANodeDiesAJobGoesOnAnotherOneIfItMay) {
  ASSERT_EQ(submit("moves", kSecondAttemptEnds, "retries = 1\n").code, 0);
  ASSERT_EQ(submit("dies", "echo ready; sleep 600").code, 0);
  ASSERT_TRUE(prints("moves", "attempt 1") && prints("dies", "ready"));
  const std::string node = cluster_->find(id("moves"))->nodes;
  ASSERT_EQ(cluster_->find(id("dies"))->nodes, node);
  cluster_->lose(node);
  EXPECT_EQ(trainwarden({"job", "wait", "dies"}).code, 1);
  EXPECT_EQ(record("dies").current()->message, "InternalServerError: its node has failed");
  ASSERT_TRUE(cluster_->await(id("moves"), Standing::kQueued));
  EXPECT_NE(trainwarden({"job", "describe", "moves"}).text.find("Interrupted"), std::string::npos);
  ASSERT_TRUE(start_soon(cluster_->commands(), {id("moves"), {}}).ok());
  const Answer waited = trainwarden({"job", "wait", "moves"});
  EXPECT_EQ(waited.code, 0) << waited.text << waited.errors;
  EXPECT_EQ(ways("moves"), kTwoAttempts);
  EXPECT_NE(cluster_->find(id("moves"))->nodes, node);
  cluster_->start(node);
}

TEST_F(SlurmJobs, AJobThatWaitsTooLongIsStoppedWhateverItWaitsFor) {
  for (const char* name : {"full", "full-too"}) ASSERT_EQ(submit(name, "sleep 600", "cpus = 4\n").code, 0);
  ASSERT_TRUE(reaches("full", P::kTraining) && reaches("full-too", P::kTraining));
  ASSERT_EQ(submit("too-late", "touch begun", "cpus = 4\nmax_pending = 2\n").code, 0);
  ASSERT_EQ(submit("late-too", "touch begun", "cpus = 4\nmax_run = 2\nmax_wait = 3\n").code, 0);
  EXPECT_EQ(trainwarden({"job", "wait", "too-late"}).code, 1);
  EXPECT_EQ(trainwarden({"job", "wait", "late-too"}).code, 1);
  EXPECT_EQ(phase("too-late"), P::kStopped);
  EXPECT_EQ(phase("late-too"), P::kMaxWaitTimeExceeded);
  EXPECT_EQ(cluster_->standing(id("too-late")), Standing::kCancelled);
  for (const char* name : {"full", "full-too"}) EXPECT_EQ(trainwarden({"job", "stop", name, "--wait"}).code, 0);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "begun"));
}

TEST_F(SlurmJobs, APriorityReachesSlurm) {
  ASSERT_EQ(submit("modest-one", "true", "priority = -7\n").code, 0);
  const auto shown = cluster_->commands().run(SlurmTool::kScontrol, {"show", "job", std::to_string(id("modest-one"))});
  EXPECT_NE(shown.value_or("").find(" Nice=7 "), std::string::npos) << shown.value_or("");
  EXPECT_EQ(trainwarden({"job", "wait", "modest-one"}).code, 0);
}

// A controller that begins anew without its last seconds, or somebody has taken the job out of its list.
TEST_F(SlurmJobs, WhatSlurmHasForgottenIsSubmittedAgainWhenItsUserSaysSo) {
  ASSERT_EQ(submit("forgotten", kSecondAttemptEnds, "retries = 1\n").code, 0);
  ASSERT_TRUE(prints("forgotten", "attempt 1"));
  forget_in_slurm("forgotten");
  EXPECT_NE(trainwarden({"job", "describe", "forgotten"}).text.find("`trainwarden job resume forgotten`"),
            std::string::npos);
  EXPECT_EQ(phase("forgotten"), P::kInterrupted);
  const Answer resumed = trainwarden({"job", "resume", "forgotten", "--wait"});
  EXPECT_EQ(resumed.code, 0) << resumed.text << resumed.errors;
  EXPECT_EQ(ways("forgotten"), kTwoAttempts);
}

// Whoever submits it dies after Slurm has taken it, before it can write Slurm's number.
TEST_F(SlurmJobs, AJobWhoseSubmitterDiedIsAdopted) {
  const std::filesystem::path fake = folder_.path() / "fake";
  std::filesystem::create_directory(fake);
  std::ofstream(fake / "sbatch") << "#!/bin/sh\nid=$(/usr/bin/sbatch --hold \"$@\")\necho $id > "
                                 << (folder_.path() / "id").string() << "\nkill -9 $PPID\n";
  std::filesystem::permissions(fake / "sbatch", std::filesystem::perms::owner_all);
  EXPECT_EQ(submit("adopted", "true", "", fake.string()).code, 128 + SIGKILL);
  ASSERT_TRUE(comes_true([&] { return count_in_slurm("adopted") == 1; }));
  EXPECT_EQ(id("adopted"), 0);
  EXPECT_NE(trainwarden({"job", "describe", "adopted"}).text.find("JobHeldUser"), std::string::npos);
  ASSERT_GT(id("adopted"), 0);
  ASSERT_TRUE(cluster_->commands().run(SlurmTool::kScontrol, {"release", std::to_string(id("adopted"))}).ok());
  EXPECT_EQ(trainwarden({"job", "wait", "adopted"}).code, 0);
  EXPECT_EQ(count_in_slurm("adopted"), 1);
}

TEST_F(SlurmJobs, ASecondJobInSlurmForTheSameOneDoesNothing) {
  ASSERT_EQ(submit("single", "echo ran; sleep 3").code, 0);
  const auto submission = newest_submission(record("single").place());
  ASSERT_TRUE(submission.ok() && *submission);
  const auto twice = cluster_->commands().run(SlurmTool::kSbatch, (*submission)->intent.arguments);
  ASSERT_TRUE(twice.ok());
  EXPECT_EQ(trainwarden({"job", "wait", "single"}).code, 0);
  const auto second = cluster_->await_end(parse_int(trim(*twice)).value_or(0));
  ASSERT_TRUE(second);
  EXPECT_EQ(standing_of(second->states), Standing::kFailed);
  EXPECT_EQ(output("single").find("ran"), output("single").rfind("ran"));
}

constexpr const char* kTwoByTwo = "nodes = 2\ntasks_per_node = 2\ncpus = 1\n";

TEST_F(SlurmJobs, AJobOfSeveralNodesHasTorchrunsVariables) {
  const std::string script =
      "echo \"rank $RANK local $LOCAL_RANK of $WORLD_SIZE, $LOCAL_WORLD_SIZE here, node $GROUP_RANK on "
      "$SLURMD_NODENAME, "
      "$MASTER_ADDR:$MASTER_PORT\"";
  ASSERT_EQ(submit("four", script, kTwoByTwo).code, 0);
  const Answer waited = trainwarden({"job", "wait", "four"});
  EXPECT_EQ(waited.code, 0) << waited.text << output("four");
  const std::string printed = output("four");
  for (const char* line :
       {"rank 0 local 0 of 4, 2 here, node 0 on node1, 127.0.0.1:", "rank 1 local 1 of 4, 2 here, node 0 ",
        "rank 2 local 0 of 4, 2 here, node 1 on node2, 127.0.0.1:", "rank 3 local 1 of 4, 2 here, node 1 "}) {
    EXPECT_NE(printed.find(line), std::string::npos) << line << "\n" << printed;
  }
  EXPECT_NE(printed.find("[3] rank 3 local 1 of 4"), std::string::npos) << printed;
  EXPECT_EQ(trainwarden({"job", "logs", "four", "--rank", "3"}).text.find("rank 3 local 1 of 4"), 0U);
}

TEST_F(SlurmJobs, EachNodeHasItsNameAndItsShareOfAChannel) {
  std::filesystem::create_directory(folder_.path() / "data");
  for (const char* name : {"a", "b", "c"}) std::ofstream(folder_.path() / "data" / name) << name;
  const std::string script =
      "echo \"on $SLURMD_NODENAME: $SM_CURRENT_HOST of $SM_HOSTS, $SM_NUM_CPUS: $(ls $SM_CHANNEL_TRAIN | tr '\\n' ' "
      "')\"";
  const std::string more = "[inputs.train]\nsource = 'data'\ndistribution = 'ShardedByS3Key'\n";
  ASSERT_EQ(submit("shares", script, std::string(kTwoByTwo) + more).code, 0);
  EXPECT_EQ(trainwarden({"job", "wait", "shares"}).code, 0) << output("shares");
  const std::string hosts = R"(["node1","node2"])";
  for (const std::string& line :
       {"[0] on node1: node1 of " + hosts + ", 2: a c", "[3] on node2: node2 of " + hosts + ", 2: b"}) {
    EXPECT_NE(output("shares").find(line), std::string::npos) << line << "\n" << output("shares");
  }
}

TEST_F(SlurmJobs, NoNodeIsSampledWhenTheProfilerIsSwitchedOff) {
  const std::string config = (folder_.path() / "profilerconfig.json").string();
  std::ofstream(config) << R"({"DisableProfiler": true})";
  const std::string file = (folder_.path() / "dark.toml").string();
  std::ofstream(file) << "program = ['" << TW_TINY_TRAINING
                      << "', '--steps', '5']\nbackend = 'slurm'\nmemory = '50 MiB'\n"
                      << kTwoByTwo << "[environment]\nSMPROFILER_CONFIG_PATH = '" << config << "'\n";
  ASSERT_EQ(trainwarden({"submit", file, "--name", "dark"}).code, 0);
  const Answer waited = trainwarden({"job", "wait", "dark"});
  EXPECT_EQ(waited.code, 0) << waited.text << output("dark");
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "runs/dark/journal/rank-00003"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "runs/dark/journal/machine-0"));
}

TEST_F(SlurmJobs, AJobOfSeveralNodesIsOneRunWithManyWorkers) {
  const std::string file = (folder_.path() / "many.toml").string();
  std::ofstream(file) << "program = ['" << TW_TINY_TRAINING
                      << "', '--steps', '5']\nbackend = 'slurm'\nmemory = '50 MiB'\n"
                      << "rules = ['ExplodingTensor']\n"
                      << kTwoByTwo;
  ASSERT_EQ(trainwarden({"submit", file, "--name", "many"}).code, 0);
  const Answer waited = trainwarden({"job", "wait", "many"});
  EXPECT_EQ(waited.code, 0) << waited.text << output("many");
  std::set<std::string> workers;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path() / "runs/many/journal")) {
    if (entry.path().filename().string().starts_with("rank-")) workers.insert(entry.path().filename().string());
  }
  EXPECT_EQ(workers, (std::set<std::string>{"rank-00000", "rank-00001", "rank-00002", "rank-00003"}));
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "runs/many/journal/machine-0")) << "it is sampled";
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "runs/many/journal/machine-1"))
      << "once: both nodes are one machine";
  const std::string rule = trainwarden({"job", "logs", "many", "--rule", "ExplodingTensor"}).text;
  EXPECT_EQ(std::count(rule.begin(), rule.end(), '\n'), 2) << "one judges for all nodes: " << rule;
  EXPECT_NE(rule.find("  NoIssuesFound  ExplodingTensor found no issue"), std::string::npos) << rule;
}

// srun would kill the tasks after KillWait.
TEST_F(SlurmJobs, TasksOfAJobThatIsStoppedHaveTheirGrace) {
  const std::string script =
      "trap 'sleep 5; echo saved $RANK; exit 0' TERM; echo ready $RANK; while :; do sleep 0.1; done";
  ASSERT_EQ(submit("saves-all", script, kTwoByTwo).code, 0);
  for (const char* rank : {"0", "1", "2", "3"}) ASSERT_TRUE(prints("saves-all", std::string("ready ") + rank));
  EXPECT_EQ(trainwarden({"job", "stop", "saves-all", "--wait"}).code, 0);
  EXPECT_EQ(phase("saves-all"), P::kStopped);
  for (const char* rank : {"0", "1", "2", "3"}) {
    EXPECT_NE(output("saves-all").find(std::string("saved ") + rank), std::string::npos) << output("saves-all");
  }
}

TEST_F(SlurmJobs, ATaskThatFailsEndsTheOthers) {
  ASSERT_EQ(submit("one-fails", "echo ready $RANK; test $RANK = 2 && sleep 1 && exit 5; sleep 600", kTwoByTwo).code, 0);
  EXPECT_EQ(trainwarden({"job", "wait", "one-fails"}).code, 1);
  EXPECT_EQ(phase("one-fails"), P::kFailed);
  EXPECT_NE(
      trainwarden({"job", "describe", "one-fails"}).text.find("AlgorithmError: rank 2 has ended with exit code 5"),
      std::string::npos);
  EXPECT_TRUE(comes_true([&] { return processes("one-fails").empty(); }, 30s));
}

TEST_F(SlurmJobs, AJobGoesOnWhileTheControllerIsAway) {
  ASSERT_EQ(submit("calm", "echo ready; until test -e go; do sleep 0.1; done").code, 0);
  ASSERT_TRUE(prints("calm", "ready"));
  cluster_->stop("controller");
  EXPECT_NE(trainwarden({"job", "ls"}).text.find("calm  Training"), std::string::npos);
  std::ofstream(folder_.path() / "go") << "go";
  EXPECT_TRUE(reaches("calm", P::kCompleted)) << "its agent needs nobody";
  const Answer ls = trainwarden({"job", "ls"});
  EXPECT_NE(ls.text.find("calm  Completed"), std::string::npos) << ls.text << ls.errors;
  cluster_->start("controller");
}

}  // namespace
}  // namespace trainwarden::slurm
