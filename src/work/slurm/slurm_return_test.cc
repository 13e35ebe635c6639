#include "work/slurm/slurm_return.h"

#include <gtest/gtest.h>

#include <fmt/format.h>
#include <unistd.h>

#include "work/slurm/slurm_testing.h"

namespace trainwarden::slurm {
namespace {

using jobs::JobPhase;
using Ways = std::vector<JobPhase>;

SlurmJob listed(std::int64_t restarts, bool requeues = true) {
  SlurmJob job;
  job.id = 17;
  job.nodes = "node1";
  job.restarts = restarts;
  job.requeues = requeues;
  return job;
}

std::vector<jobs::Transition> transitions(const Ways& ways, const char* cause = jobs::kAgentLost) {
  std::vector<jobs::Transition> all = {{1, 0, JobPhase::kPending, "submit", ""}};
  for (const JobPhase way : ways) {
    all.push_back({all.back().seq + 1, 0, way, way == JobPhase::kInterrupted ? cause : "agent", ""});
  }
  return all;
}

bool goes_on(std::int64_t retries, const std::vector<jobs::Transition>& all, const SlurmJob* job) {
  jobs::JobOrder order;
  order.retries = retries;
  return may_go_on(order, all, job);
}

const Ways kOnceLost = {JobPhase::kTraining, JobPhase::kInterrupted, JobPhase::kRestarting, JobPhase::kTraining};

TEST(SlurmReturn, AnAgentThatIsGoneIsALossAndACancelIsNot) {
  const SlurmJob job = listed(0);
  EXPECT_TRUE(is_loss(Standing::kFailed, &job, JobPhase::kTraining));
  EXPECT_TRUE(is_loss(Standing::kFailed, nullptr, JobPhase::kTraining));
  EXPECT_FALSE(is_loss(Standing::kFailed, &job, JobPhase::kStopping)) << "somebody wants its end";
  EXPECT_FALSE(is_loss(Standing::kCancelled, &job, JobPhase::kTraining));
  EXPECT_FALSE(is_loss(Standing::kCancelled, nullptr, JobPhase::kTraining));
  EXPECT_FALSE(is_loss(Standing::kOutOfTime, &job, JobPhase::kTraining));
  EXPECT_FALSE(is_loss(Standing::kOutOfMemory, &job, JobPhase::kTraining)) << "it would again";
}

TEST(SlurmReturn, WhatTheControllerHasForgottenToHaveStartedIsALoss) {
  SlurmJob job = listed(0);
  job.nodes.clear();
  EXPECT_TRUE(is_loss(Standing::kCancelled, &job, JobPhase::kTraining));
  EXPECT_FALSE(is_loss(Standing::kCancelled, &job, JobPhase::kPending)) << "a user has cancelled it while it waited";
}

TEST(SlurmReturn, SlurmItselfGoesOnAfterANodesEnd) {
  const SlurmJob goes_on = listed(0, true);
  const SlurmJob stays = listed(0, false);
  EXPECT_FALSE(is_loss(Standing::kNodeFailed, &goes_on, JobPhase::kTraining));
  EXPECT_TRUE(is_loss(Standing::kNodeFailed, &stays, JobPhase::kTraining));
}

TEST(SlurmReturn, AJobGoesOnAsOftenAsItsUserAllows) {
  const SlurmJob first = listed(0);
  const SlurmJob second = listed(1);
  EXPECT_FALSE(goes_on(0, transitions({JobPhase::kTraining}), &first));
  EXPECT_TRUE(goes_on(1, transitions({JobPhase::kTraining}), &first));
  EXPECT_FALSE(goes_on(1, transitions(kOnceLost), &second));
  EXPECT_TRUE(goes_on(2, transitions(kOnceLost), &second));
  EXPECT_FALSE(goes_on(1, transitions(kOnceLost), nullptr));
  EXPECT_TRUE(goes_on(2, transitions(kOnceLost), nullptr));
}

TEST(SlurmReturn, OneThatSlurmMayNotRequeueDoesNot) {
  const SlurmJob job = listed(0, false);
  EXPECT_FALSE(goes_on(3, transitions({JobPhase::kTraining}), &job));
}

TEST(SlurmReturn, WhatWasInterruptedAndIsNotBackGoesBackWithoutAnotherRetry) {
  const auto all = transitions({JobPhase::kTraining, JobPhase::kInterrupted}, "program");
  const SlurmJob not_back = listed(0);
  const SlurmJob was_back = listed(1);
  EXPECT_TRUE(goes_on(0, all, &not_back));
  EXPECT_FALSE(goes_on(0, all, &was_back)) << "its next agent has died before it said anything";
  EXPECT_TRUE(goes_on(0, all, nullptr)) << "nobody will start it: it waits for its user";
}

TEST(SlurmReturn, AgentsThatDieBeforeTheySayAnythingCountToo) {
  const SlurmJob first = listed(0);
  const SlurmJob second = listed(1);
  EXPECT_TRUE(goes_on(1, transitions({}), &first));
  EXPECT_FALSE(goes_on(1, transitions({}), &second));
  EXPECT_TRUE(goes_on(2, transitions({}), &second));
}

class SlurmReturnTest : public testing::Test {
 protected:
  SlurmReturnTest() {
    slurm_.answers("scontrol", fmt::format("echo \"$@\" >> {}/asked", slurm_.folder().string()));
    jobs::JobOrder order;
    order.name = "bert-7";
    Result<jobs::JobRecord> made = jobs::JobRecord::create(storage::Location(folder_.path()), order);
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    job_.emplace(*std::move(made));
    EXPECT_TRUE(write_intent(job_->place(), {}).ok());
    EXPECT_TRUE(write_submitted(job_->place(), 1, {17, "", false}).ok());
    submission_ = **newest_submission(job_->place());
    script_ = submission_.intent.arguments.back();
  }
  void lists(const std::string& state, const std::string& script, std::int64_t user = ::getuid(),
             const std::string& description = "") const {
    slurm_.answers("squeue", fmt::format("echo '{{\"jobs\": [{{\"job_id\": 17, \"comment\": \"{}\", \"user_id\": {}, "
                                         "\"job_state\": \"{}\", \"state_reason\": \"JobHeldUser\", "
                                         "\"state_description\": \"{}\", \"command\": \"{}\"}}]}}'",
                                         submission_.intent.comment, user, state, description, script));
  }
  Status put_back_now() const { return put_back(*job_, submission_, slurm_.commands(), system_clock()); }
  std::string asked() const {
    std::ifstream file(slurm_.folder() / "asked");
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  TestFolder folder_;
  FakeSlurm slurm_;
  std::optional<jobs::JobRecord> job_;
  Submission submission_;
  std::string script_;
};

TEST_F(SlurmReturnTest, PutsBackWhatHasEndedAndLetsItBegin) {
  lists("FAILED", script_);
  ASSERT_TRUE(put_back_now().ok());
  EXPECT_EQ(asked(), "requeue 17\nupdate jobid=17 starttime=now+2\n");
}

TEST_F(SlurmReturnTest, WhatSlurmTakesForCancelledIsReleasedToo) {
  lists("CANCELLED", script_);
  ASSERT_TRUE(put_back_now().ok());
  EXPECT_EQ(asked(), "requeue 17\nrelease 17\nupdate jobid=17 starttime=now+2\n");
}

TEST_F(SlurmReturnTest, WhatSlurmCouldNotStartIsReleased) {
  lists("PENDING", script_, ::getuid(), "launch failed requeued held");
  ASSERT_TRUE(put_back_now().ok());
  EXPECT_EQ(asked(), "release 17\nupdate jobid=17 starttime=now+2\n");
}

// Whoever looked a moment earlier has done it.
TEST_F(SlurmReturnTest, LeavesWhatWaitsOrRuns) {
  for (const char* state : {"PENDING", "RUNNING", "COMPLETING"}) {
    lists(state, script_);
    EXPECT_TRUE(put_back_now().ok()) << state;
  }
  EXPECT_EQ(asked(), "");
}

TEST_F(SlurmReturnTest, LeavesWhatSomebodyElseIsAt) {
  const auto lease = storage::take_lease(job_->place().storage(), "slurm/return", system_clock());
  ASSERT_TRUE(lease.ok());
  lists("FAILED", script_);
  EXPECT_TRUE(put_back_now().ok());
  EXPECT_EQ(asked(), "");
}

// A copy of the folder has the comment of the job that it was copied from.
TEST_F(SlurmReturnTest, PutsNothingBackThatSlurmDoesNotHaveFromThisFolder) {
  const TestFolder other;
  for (const std::string& script :
       {std::string(), std::string("/"), (other.path() / "bert-7/slurm/1/batch-x.sh").string(),
        (folder_.path() / "bert-8/slurm/1/batch-x.sh").string()}) {
    lists("FAILED", script);
    EXPECT_EQ(put_back_now().code(), Code::kFailedPrecondition) << script;
  }
  lists("FAILED", script_, ::getuid() + 1);
  EXPECT_EQ(put_back_now().code(), Code::kFailedPrecondition);
  EXPECT_EQ(asked(), "");
}

TEST_F(SlurmReturnTest, SaysWhenNobodyKnows) {
  slurm_.answers("squeue", "echo 'Unable to contact slurm controller' >&2; exit 1");
  EXPECT_EQ(put_back_now().code(), Code::kUnavailable);
}

}  // namespace
}  // namespace trainwarden::slurm
