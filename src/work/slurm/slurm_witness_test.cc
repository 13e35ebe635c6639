#include "work/slurm/slurm_witness.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "work/slurm/slurm_testing.h"

namespace trainwarden::slurm {
namespace {

// A line of jobcomp/filetxt, Slurm 22.05.8.
constexpr const char* kCompleted =
    "JobId=2 UserId=root(0) GroupId=root(0) Name=wrap JobState=CANCELLED Partition=main TimeLimit=525600 "
    "StartTime=2026-11-23T15:58:18 EndTime=2026-11-23T15:58:18 NodeList=node1 NodeCnt=1 ProcCnt=1 WorkDir=/tmp/rec "
    "ReservationName= Tres=cpu=1,mem=100M,node=1,billing=1 Account= QOS= WcKey= Cluster=unknown "
    "DerivedExitCode=0:0 ExitCode=0:0 \n";

class SlurmWitnessTest : public testing::Test {
 protected:
  void has_list(const std::string& text) const {
    const std::string path = (slurm_.folder() / "completed.log").string();
    std::ofstream(path) << text;
    slurm_.answers("scontrol", "echo 'JobCompLoc              = " + path + "'; echo 'JobCompType = jobcomp/filetxt'");
  }
  FakeSlurm slurm_;
};

TEST_F(SlurmWitnessTest, OfNothingSaysNothing) {
  slurm_.answers("sacct", "echo 'Slurm accounting storage is disabled' >&2; exit 1");
  EXPECT_TRUE(ask_witnesses(slurm_.commands(), {2}).empty());
  EXPECT_TRUE(ask_witnesses(slurm_.commands(), {}).empty());
}

TEST_F(SlurmWitnessTest, ReadsTheListOfCompletedJobs) {
  slurm_.answers("sacct", "exit 1");
  has_list(std::string("cut off JobState=FAILED\n") + kCompleted);
  const auto found = ask_witnesses(slurm_.commands(), {1, 2});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].id, 2);
  EXPECT_EQ(found[0].name, "wrap");
  EXPECT_EQ(found[0].states, std::vector<std::string>{"CANCELLED"});
  EXPECT_EQ(found[0].exit, SlurmExit()) << "it has 0:0 for what a signal has ended";
}

TEST_F(SlurmWitnessTest, TakesTheLastOfARequeuedJob) {
  slurm_.answers("sacct", "exit 1");
  std::string twice = kCompleted;
  has_list(twice.replace(twice.find("CANCELLED"), 9, "REQUEUED") + kCompleted);
  const auto found = ask_witnesses(slurm_.commands(), {2});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].states, std::vector<std::string>{"CANCELLED"});
}

TEST_F(SlurmWitnessTest, AsksTheAccountingFirst) {
  has_list(kCompleted);
  slurm_.answers("sacct",
                 "case \"$*\" in *--jobs=2,3*) printf '2|COMPLETED|0:0|wrap\\n2.batch|FAILED|1:0|batch\\n';; esac");
  const auto found = ask_witnesses(slurm_.commands(), {2, 3});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].states, std::vector<std::string>{"COMPLETED"});
  EXPECT_EQ(found[0].exit, (SlurmExit{0, std::nullopt}));
}

TEST(SlurmWitness, ReadsSacct) {
  const auto jobs = parse_sacct(
      "17|PREEMPTED|0:0|bert\n17|CANCELLED by 1000|0:9|bert\n17.batch|CANCELLED|0:9|batch\n17_3|FAILED|1:0|x\n|\n");
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_EQ(jobs[0].states, std::vector<std::string>{"CANCELLED"});
  EXPECT_EQ(jobs[0].exit, (SlurmExit{std::nullopt, 9}));
  EXPECT_EQ(jobs[0].name, "bert");
}

}  // namespace
}  // namespace trainwarden::slurm
