#include "work/workspace/workspace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "core/base/folder_testing.h"
#include "work/jobs/job_agent.h"
#include "work/workspace/job_files.h"
#include "work/workspace/node_variables.h"

namespace trainwarden::workspace {
namespace {

namespace fs = std::filesystem;
using S = jobs::JobPhase;

// Jobs whose program is a line of a shell, run by their agent.
class WorkspaceTest : public testing::Test {
 protected:
  jobs::JobRecord run(const std::string& script, const std::string& spec) {
    jobs::JobRecord job = submitted(script, spec);
    attempt(job);
    return job;
  }
  jobs::JobRecord submitted(const std::string& script, const std::string& spec) {
    jobs::JobOrder order;
    order.name = "job-" + std::to_string(++made_);
    order.submitted_unix_ns = system_clock().unix_ns();
    order.program = {"sh", "-c", script};
    order.folder = folder_.path().string();
    order.max_run_seconds = 60;
    order.grace_seconds = 30;
    order.environment = {{"SM_LOG_LEVEL", "10"}};
    order.spec = "program = 'sh'\n" + spec;
    order.spec_file = (folder_.path() / "job.toml").string();
    auto job = jobs::JobRecord::create(jobs_, order);
    EXPECT_TRUE(job.ok());
    return *job;
  }
  static void attempt(jobs::JobRecord& job) { attempt_on(job, {}); }
  static void attempt_on(jobs::JobRecord& job, const std::vector<std::string>& hosts) {
    auto stages = create_workspace(job, hosts);
    ASSERT_TRUE(stages.ok()) << stages.status().to_string();
    const Status status = jobs::run_agent(job, system_clock(), {.stages = stages->get()});
    EXPECT_TRUE(status.ok()) << status.to_string();
  }
  static std::vector<S> ways(const jobs::JobRecord& job) {
    std::vector<S> ways;
    for (const auto& one : job.transitions().value_or({})) ways.push_back(one.status);
    return ways;
  }
  fs::path in_job(const jobs::JobRecord& job, const std::string& path) const { return job.place().path() / path; }

  TestFolder folder_;
  storage::Location jobs_{folder_.path() / "jobs"};
  int made_ = 0;
};

TEST_F(WorkspaceTest, EachNodeHasItsShareAndItsVariables) {
  fs::create_directory(folder_.path() / "data");
  for (const char* name : {"a", "b", "c", "d", "e"}) std::ofstream(folder_.path() / "data" / name) << name;
  jobs::JobRecord job = submitted("echo $SM_CURRENT_HOST $(ls \"$SM_CHANNEL_TRAIN\")",
                                  "nodes = 2\ntasks_per_node = 4\ncpus = 2\ngpus = 3\n"
                                  "[inputs.train]\nsource = 'data'\ndistribution = 'ShardedByS3Key'\n");
  attempt_on(job, {"gpu07", "gpu08"});
  std::ifstream output(job.output());
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(output), {}), "gpu07 a c e\n");
  EXPECT_TRUE(read_node_variables(job, 0)->empty()) << "its agent hands them on";
  const auto second = read_node_variables(job, 1);
  ASSERT_TRUE(second.ok()) << second.status().to_string();
  EXPECT_EQ(second->at("SM_CURRENT_HOST"), "gpu08");
  EXPECT_EQ(second->at("SM_HOSTS"), R"(["gpu07","gpu08"])");
  EXPECT_EQ(second->at("SM_NUM_CPUS"), "8");
  EXPECT_EQ(second->at("SM_NUM_GPUS"), "3");
  EXPECT_FALSE(second->contains("SM_LOG_LEVEL")) << "the user has set it";
  std::vector<std::string> share;
  for (const auto& entry : fs::directory_iterator(second->at("SM_CHANNEL_TRAIN")))
    share.push_back(entry.path().filename());
  std::sort(share.begin(), share.end());
  EXPECT_EQ(share, (std::vector<std::string>{"b", "d"}));
  EXPECT_TRUE(fs::exists(fs::path(second->at("SM_INPUT_CONFIG_DIR")) / "resourceconfig.json"));
  EXPECT_TRUE(read_node_variables(job, 2)->empty());
}

TEST_F(WorkspaceTest, DamagedVariablesOfANodeAreAnError) {
  jobs::JobRecord job = run("true", "");
  fs::create_directories(in_job(job, "ml/nodes/1"));
  for (const char* text : {"{", "[]", "{\"A\": 3}"}) {
    std::ofstream(in_job(job, "ml/nodes/1/variables.json")) << text;
    EXPECT_EQ(read_node_variables(job, 1).status().code(), Code::kDataLoss) << text;
  }
}

TEST_F(WorkspaceTest, AJobWithoutRoomFailsBeforeItsProgramStarts) {
  const jobs::JobRecord job = run("touch begun", "volume = '900000000 GB'\n");
  EXPECT_EQ(ways(job).back(), S::kFailed);
  EXPECT_TRUE(job.current()->message.starts_with("ClientError: volume: ")) << job.current()->message;
  EXPECT_FALSE(fs::exists(folder_.path() / "begun"));
}

TEST_F(WorkspaceTest, AProgramFindsItsInputsAndItsModelIsPacked) {
  std::ofstream(folder_.path() / "data.txt") << "numbers";
  const jobs::JobRecord job =
      run("cat \"$SM_CHANNEL_TRAIN/data.txt\" > \"$SM_MODEL_DIR/model.pt\"", "[inputs]\ntrain = 'data.txt'\n");
  EXPECT_EQ(ways(job),
            (std::vector<S>{S::kPending, S::kStarting, S::kDownloading, S::kTraining, S::kUploading, S::kCompleted}));
  EXPECT_TRUE(fs::exists(in_job(job, "output/model.tar.gz")));
}

TEST_F(WorkspaceTest, ResultsGoWhereTheJobSays) {
  const jobs::JobRecord job = run("echo 1 > $SM_OUTPUT_DATA_DIR/log; exit 3", "output_dir = 'results'\n");
  EXPECT_EQ(job.current()->status, S::kFailed);
  EXPECT_TRUE(fs::exists(folder_.path() / "results" / job.order().name / "output/output.tar.gz"))
      << "of a failed job too";
}

TEST_F(WorkspaceTest, TheNextAttemptFindsTheCheckpointsOfTheLast) {
  jobs::JobRecord job = run(
      "cat $TRAINWARDEN_CHECKPOINT_DIR/step 2> /dev/null && exit 0; echo 7 > $TRAINWARDEN_CHECKPOINT_DIR/step; exit 1",
      "");
  EXPECT_EQ(job.current()->status, S::kFailed);
  ASSERT_TRUE(job.resume("go on", system_clock()).ok());
  attempt(job);
  EXPECT_EQ(job.current()->status, S::kCompleted);
}

TEST_F(WorkspaceTest, CheckpointsElsewhereAreKeptAndBroughtBack) {
  const std::string spec = "[checkpoints]\npath = 'kept'\nlocal = 'local'\n";
  run("echo 7 > local/step", spec);
  EXPECT_TRUE(fs::exists(folder_.path() / "kept/step"));
  fs::remove_all(folder_.path() / "local");
  EXPECT_EQ(run("test $(cat local/step) = 7", spec).current()->status, S::kCompleted)
      << "a new job with the same address";
}

TEST_F(WorkspaceTest, WhatAJobLeavesIsListedAndFetched) {
  const jobs::JobRecord job =
      run("echo 1 > $SM_MODEL_DIR/m; mkdir $TRAINWARDEN_CHECKPOINT_DIR/deep; echo 22 > "
          "$TRAINWARDEN_CHECKPOINT_DIR/deep/a.pt; "
          "ln -s /etc/passwd $TRAINWARDEN_CHECKPOINT_DIR/link",
          "");
  const auto files = list_job_files(job);
  ASSERT_TRUE(files.ok()) << files.status().to_string();
  ASSERT_EQ(files->files.size(), 2u) << "a link is no file";
  EXPECT_EQ(files->files.front().name, "checkpoints/deep/a.pt");
  EXPECT_EQ(files->files.front().bytes, 3u);
  EXPECT_EQ(files->files.back().name, "output/model.tar.gz");
  const fs::path to = folder_.path() / "fetched";
  ASSERT_TRUE(fetch_job_file(files->files.front(), to).ok());
  std::ifstream fetched(to / "checkpoints/deep/a.pt");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(fetched), {}), "22\n");
  EXPECT_EQ(fetch_job_file(files->files.front(), to).code(), Code::kAlreadyExists);
}

TEST_F(WorkspaceTest, AProgramSaysWhyItHasFailed) {
  jobs::JobRecord job = run("printf 'no such column\\n' > $SM_OUTPUT_DIR/failure; exit 2", "");
  EXPECT_EQ(job.current()->message, "AlgorithmError: the program has ended with exit code 2: no such column");
  ASSERT_TRUE(job.resume("go on", system_clock()).ok());
}

TEST_F(WorkspaceTest, MissingInputsFailTheJobBeforeItsProgramRuns) {
  const jobs::JobRecord job = run("echo ran > ran", "[inputs]\ntrain = 'nowhere'\n");
  EXPECT_EQ(job.current()->status, S::kFailed);
  EXPECT_NE(job.current()->message.find("ClientError: inputs: train: nothing is there"), std::string::npos);
  EXPECT_FALSE(fs::exists(folder_.path() / "ran"));
}

TEST_F(WorkspaceTest, ResultsThatCannotBeStoredFailTheJob) {
  std::ofstream(folder_.path() / "file");
  const jobs::JobRecord job = run("echo 1 > $SM_MODEL_DIR/m", "output_dir = 'file'\n");
  EXPECT_EQ(job.current()->status, S::kFailed);
  EXPECT_NE(job.current()->message.find("its results are not stored"), std::string::npos);
}

// The agent was killed while it stored the results: the next one stores them, and does not run the program again.
TEST_F(WorkspaceTest, ResultsOfALostAgentAreStoredByTheNext) {
  jobs::JobRecord job = run("echo x >> ran; echo 1 > $SM_MODEL_DIR/m; exit 1", "");
  ASSERT_TRUE(job.resume("go on", system_clock()).ok());
  const auto move = [&](S to, const char* cause) {
    ASSERT_TRUE(job.advance(*job.current(), to, cause, "", system_clock()).ok());
  };
  move(S::kStarting, "agent");
  move(S::kTraining, "agent");
  ASSERT_TRUE(job.prepare_attempt(2).ok() && job.write_exit(2, {.code = 0}).ok());
  move(S::kUploading, "agent");
  fs::remove_all(in_job(job, "output"));
  ASSERT_EQ(job.settle(system_clock())->status, S::kInterrupted);
  move(S::kRestarting, "queue");
  attempt(job);
  EXPECT_EQ(job.current()->status, S::kCompleted);
  EXPECT_TRUE(fs::exists(in_job(job, "output/model.tar.gz")));
  std::ifstream ran(folder_.path() / "ran");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(ran), {}), "x\n");
}

}  // namespace
}  // namespace trainwarden::workspace
