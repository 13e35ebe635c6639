#include "work/slurm/slurm_control.h"

#include <gtest/gtest.h>

#include "work/slurm/slurm_testing.h"

namespace trainwarden::slurm {
namespace {

class SlurmControlTest : public testing::Test {
 protected:
  SlurmControlTest() {
    for (const char* tool : {"scancel", "scontrol"}) {
      slurm_.answers(tool, std::string("echo ") + tool + " \"$@\" >> " + (slurm_.folder() / "asked").string());
    }
  }
  std::string asked() const {
    std::ifstream file(slurm_.folder() / "asked");
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  static SlurmJob job(const std::string& state) {
    SlurmJob job;
    job.id = 17;
    job.states = {state};
    return job;
  }
  FakeSlurm slurm_;
};

TEST_F(SlurmControlTest, SignalsTheAgentOfAJobThatRuns) {
  ASSERT_TRUE(ask_to_end(slurm_.commands(), job("RUNNING")).ok());
  EXPECT_EQ(asked(), "scancel --batch --signal=TERM 17\n");
}

TEST_F(SlurmControlTest, SendsNoSignalToWhatHasNotBegun) {
  for (const char* state : {"PENDING", "CONFIGURING", "SUSPENDED", "REQUEUE_HOLD"}) {
    ASSERT_TRUE(ask_to_end(slurm_.commands(), job(state)).ok());
  }
  EXPECT_EQ(asked(), "scancel 17\nscancel 17\nscancel 17\nscancel 17\n");
}

TEST_F(SlurmControlTest, LeavesWhatHasEnded) {
  ASSERT_TRUE(ask_to_end(slurm_.commands(), job("TIMEOUT")).ok());
  EXPECT_EQ(asked(), "");
  slurm_.answers("scancel", "echo 'scancel: error: Kill job error on job id 17: Invalid job id specified' >&2; exit 1");
  EXPECT_TRUE(cancel(slurm_.commands(), {17, {}}).ok());
  slurm_.answers("scancel", "exit 1");  // it ended since it was listed
  EXPECT_TRUE(ask_to_end(slurm_.commands(), job("RUNNING")).ok());
}

TEST_F(SlurmControlTest, NamesTasksOfArrays) {
  ASSERT_TRUE(cancel(slurm_.commands(), {17, 3}).ok());
  ASSERT_TRUE(requeue(slurm_.commands(), {17, 3}).ok());
  ASSERT_TRUE(start_soon(slurm_.commands(), {17, 3}).ok());
  EXPECT_EQ(asked(), "scancel 17_3\nscontrol requeue 17_3\nscontrol update jobid=17_3 starttime=now+2\n");
}

TEST_F(SlurmControlTest, SaysWhenNobodyKnows) {
  slurm_.answers("scancel", "echo 'scancel: error: Unable to contact slurm controller' >&2; exit 1");
  EXPECT_EQ(ask_to_end(slurm_.commands(), job("RUNNING")).code(), Code::kUnavailable);
}

}  // namespace
}  // namespace trainwarden::slurm
