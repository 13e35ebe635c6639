#include "work/slurm/slurm_settle.h"

#include <gtest/gtest.h>

#include <fmt/format.h>
#include <unistd.h>

#include "core/base/bytes.h"
#include "work/slurm/slurm_agent.h"
#include "work/slurm/slurm_testing.h"

namespace trainwarden::slurm {
namespace {

using P = jobs::JobPhase;

// The clock of a test that does not wait.
class LaterClock : public Clock {
 public:
  std::int64_t steady_ns() const override { return system_clock().steady_ns() + later_ns; }
  std::int64_t unix_ns() const override { return system_clock().unix_ns() + later_ns; }
  std::int64_t later_ns = 0;
};

class SlurmSettleTest : public testing::Test {
 protected:
  static constexpr std::int64_t kId = 17;

  SlurmSettleTest() {
    slurm_.answers("squeue", "echo '{\"jobs\": []}'");
    slurm_.answers("sacct", "exit 1");
    jobs::JobOrder order;
    order.name = "bert-7";
    order.submitted_unix_ns = clock_.unix_ns();
    order.program = {"true"};
    order.folder = folder_.path().string();
    order.max_run_seconds = 60;
    order.retries = 1;
    Result<jobs::JobRecord> made = jobs::JobRecord::create(storage::Location(folder_.path()), order);
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    job_.emplace(*std::move(made));
    EXPECT_TRUE(write_intent(job_->place(), {}).ok());
    const SubmissionIntent intent = (*newest_submission(job_->place()))->intent;
    comment_ = intent.comment;
    script_ = intent.arguments.back();
    for (const char* tool : {"scontrol", "scancel"}) {
      slurm_.answers(tool, fmt::format("echo {} \"$@\" >> {}/asked", tool, slurm_.folder().string()));
    }
  }

  void submitted() { ASSERT_TRUE(write_submitted(job_->place(), 1, {kId, "", false}).ok()); }
  void lists(const std::string& state, const std::string& reason = "None", bool requeues = true) const {
    lists_as(state, reason, requeues, comment_, ::getuid());
  }
  void lists_as(const std::string& state, const std::string& reason, bool requeues, const std::string& comment,
                std::int64_t user) const {
    slurm_.answers("squeue", fmt::format("echo '{{\"jobs\": [{{\"job_id\": {}, \"comment\": \"{}\", \"user_id\": {}, "
                                         "\"job_state\": \"{}\", \"state_reason\": \"{}\", \"requeue\": {}, "
                                         "\"command\": \"{}\", \"nodes\": \"{}\", \"restart_cnt\": {}}}]}}'",
                                         kId, comment, user, state, reason, requeues, script_, nodes_, restarts_));
  }
  void silent() const {
    slurm_.answers("squeue", "echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1");
  }
  // The job as its agent has left it.
  void moved(std::initializer_list<P> phases) {
    for (const P phase : phases) {
      const auto next = job_->advance(*job_->current(), phase, "agent", "", clock_);
      ASSERT_TRUE(next.ok()) << next.status().to_string();
    }
  }
  void wrote_exit(int code) {
    jobs::JobExit exit;
    exit.code = code;
    ASSERT_TRUE(job_->prepare_attempt(1).ok());
    ASSERT_TRUE(job_->write_exit(1, exit).ok());
  }
  std::string asked() const {
    std::ifstream file(slurm_.folder() / "asked");
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  // Its order says so from now on.
  void may_wait(std::optional<double> max_wait, std::optional<double> max_pending) {
    jobs::JobOrder order = job_->order();
    order.max_wait_seconds = max_wait;
    order.max_pending_seconds = max_pending;
    ASSERT_TRUE(job_->place().storage().replace(jobs::kOrderFile, as_bytes(encode_order(order))).ok());
    job_.emplace(*jobs::JobRecord::open(storage::Location(folder_.path()), order.name));
  }
  jobs::Transition settled() {
    SlurmView view(slurm_.commands());
    const auto now = settle(*job_, view, clock_);
    EXPECT_TRUE(now.ok()) << now.status().to_string();
    return now.value_or({});
  }

  TestFolder folder_;
  FakeSlurm slurm_;
  LaterClock clock_;
  std::optional<jobs::JobRecord> job_;
  std::string comment_;
  std::string script_;
  std::string nodes_ = "node1";
  int restarts_ = 0;
};

TEST_F(SlurmSettleTest, AJobThatWaitsSaysWhyInSlurmsWords) {
  submitted();
  lists("PENDING", "Resources");
  const jobs::Transition now = settled();
  EXPECT_EQ(now.status, P::kPending);
  EXPECT_EQ(now.message, "it waits in Slurm's queue (Resources)");
  EXPECT_EQ(job_->transitions()->size(), 1U) << "which is not written down";
}

TEST_F(SlurmSettleTest, WhatSlurmCouldNotStartIsReleasedWhileItHasRetries) {
  submitted();
  restarts_ = 1;
  lists("PENDING", kLaunchFailed);
  EXPECT_EQ(settled().status, P::kPending);
  EXPECT_EQ(asked(), "scontrol release 17\nscontrol update jobid=17 starttime=now+2\n");
  restarts_ = 2;
  lists("PENDING", kLaunchFailed);
  EXPECT_EQ(settled().message, "Slurm could not start it, and holds it; `scontrol release 17` lets it go on");
  lists("PENDING", "JobHeldUser");
  EXPECT_EQ(settled().message, "it waits in Slurm's queue (JobHeldUser)") << "as its user wants it";
  EXPECT_EQ(asked(), "scontrol release 17\nscontrol update jobid=17 starttime=now+2\n");
}

TEST_F(SlurmSettleTest, ASilentSlurmChangesNothing) {
  submitted();
  moved({P::kStarting, P::kTraining});
  clock_.later_ns = std::int64_t{3600} * 1'000'000'000;
  silent();
  EXPECT_EQ(settled().status, P::kTraining);
}

TEST_F(SlurmSettleTest, AnAgentThatLivesIsBelieved) {
  submitted();
  moved({P::kStarting, P::kTraining});
  const auto lease = job_->take_agent_lease(clock_);
  ASSERT_TRUE(lease.ok());
  lists("FAILED");
  EXPECT_EQ(settled().status, P::kTraining);
}

TEST_F(SlurmSettleTest, WhatHasEndedEndsAsItsExitRecordSays) {
  submitted();
  moved({P::kStarting, P::kTraining});
  wrote_exit(0);
  lists("FAILED");
  EXPECT_EQ(settled().status, P::kCompleted);
}

TEST_F(SlurmSettleTest, WithoutAnExitRecordSlurmsWordCounts) {
  submitted();
  moved({P::kStarting, P::kTraining});
  lists("OUT_OF_MEMORY");
  const jobs::Transition now = settled();
  EXPECT_EQ(now.status, P::kFailed);
  EXPECT_EQ(now.message, "AlgorithmError: it took more memory than it had asked for");
  EXPECT_EQ(now.cause, "slurm");
}

TEST_F(SlurmSettleTest, WhatIsCancelledInSlurmIsStopped) {
  submitted();
  moved({P::kStarting, P::kTraining});
  lists("CANCELLED");
  EXPECT_EQ(settled().status, P::kStopped);
  EXPECT_EQ(job_->transitions()->size(), 5U) << "by way of Stopping";
}

TEST_F(SlurmSettleTest, WhatIsOutOfTimeInSlurmSaysSo) {
  submitted();
  moved({P::kStarting, P::kTraining});
  lists("TIMEOUT", "TimeLimit");
  EXPECT_EQ(settled().status, P::kMaxRuntimeExceeded);
}

TEST_F(SlurmSettleTest, WhatWasToStopIsStopped) {
  submitted();
  ASSERT_TRUE(job_->request_stop("user", "", clock_).ok());
  lists("FAILED", "NonZeroExitCode");
  EXPECT_EQ(settled().status, P::kStopped);
}

TEST_F(SlurmSettleTest, WhatIsBackInTheQueueIsInterrupted) {
  submitted();
  moved({P::kStarting, P::kTraining});
  lists("PENDING", "BeginTime");
  EXPECT_EQ(settled().status, P::kInterrupted);
  EXPECT_EQ(settled().message, "it waits in Slurm's queue (BeginTime)");
  lists("CANCELLED");
  EXPECT_EQ(settled().status, P::kStopped);
}

TEST_F(SlurmSettleTest, ANodeThatFailedInterruptsWhatMayGoOn) {
  submitted();
  moved({P::kStarting, P::kTraining});
  lists("NODE_FAIL", "NodeDown", true);
  EXPECT_EQ(settled().status, P::kInterrupted);
  lists("NODE_FAIL", "NodeDown", false);
  const jobs::Transition now = settled();
  EXPECT_EQ(now.status, P::kFailed);
  EXPECT_EQ(now.message, "InternalServerError: its node has failed");
}

TEST_F(SlurmSettleTest, AWordThatWeDoNotKnowChangesNothing) {
  submitted();
  moved({P::kStarting, P::kTraining});
  lists("HIBERNATING");
  EXPECT_EQ(settled().status, P::kTraining);
}

// Whoever submitted it died before it could write the number.
TEST_F(SlurmSettleTest, AdoptsByTheComment) {
  lists("RUNNING");
  EXPECT_EQ(settled().status, P::kPending);
  EXPECT_EQ((*newest_submission(job_->place()))->submitted->id, kId);
}

TEST_F(SlurmSettleTest, TakesNoOtherJobForThisOne) {
  submitted();
  moved({P::kStarting, P::kTraining});
  lists_as("RUNNING", "None", true, "another comment", ::getuid());
  SlurmView view(slurm_.commands());
  EXPECT_FALSE(find_in_slurm(*job_, view)->has_value());
  lists_as("RUNNING", "None", true, comment_, ::getuid() + 1);
  EXPECT_FALSE(find_in_slurm(*job_, view)->has_value());
  lists("RUNNING");
  EXPECT_EQ((*find_in_slurm(*job_, view))->id, kId);
}

TEST_F(SlurmSettleTest, WhatNeverGotToSlurmHasFailedAfterAMinute) {
  EXPECT_EQ(settled().status, P::kPending);
  clock_.later_ns = std::int64_t{61} * 1'000'000'000;
  EXPECT_EQ(settled().status, P::kFailed);
}

TEST_F(SlurmSettleTest, WhatWasNotEvenMeantToGetThereToo) {
  jobs::JobOrder order = job_->order();
  order.name = "no-intent";
  auto made = jobs::JobRecord::create(storage::Location(folder_.path()), order);
  ASSERT_TRUE(made.ok());
  job_.emplace(*std::move(made));
  EXPECT_EQ(settled().status, P::kPending);
  clock_.later_ns = std::int64_t{61} * 1'000'000'000;
  EXPECT_EQ(settled().status, P::kFailed);
}

TEST_F(SlurmSettleTest, WhatSlurmHasForgottenEndsByItsWitnesses) {
  submitted();
  moved({P::kStarting, P::kTraining});
  slurm_.answers("sacct", fmt::format("echo '{}|CANCELLED by 0|0:15|bert-7'", kId));
  EXPECT_EQ(settled().status, P::kStopped);
}

// A controller that was killed gives numbers away a second time.
TEST_F(SlurmSettleTest, AnotherJobOfItsNumberIsNoWitness) {
  submitted();
  moved({P::kStarting, P::kTraining});
  slurm_.answers("sacct", fmt::format("echo '{}|CANCELLED by 0|0:15|another'", kId));
  EXPECT_EQ(settled().status, P::kInterrupted) << "and not Stopped";
}

TEST_F(SlurmSettleTest, WhatNobodyRemembersIsInterruptedWhileItHasRetries) {
  submitted();
  moved({P::kStarting, P::kTraining});
  const jobs::Transition now = settled();
  EXPECT_EQ(now.status, P::kInterrupted);
  EXPECT_EQ(now.message, "Slurm has forgotten it; `trainwarden job resume bert-7` submits it again");
  EXPECT_EQ(settled().status, P::kInterrupted) << "which a look does not do";
  moved({P::kRestarting, P::kStarting, P::kTraining});
  EXPECT_EQ(settled().status, P::kFailed);
}

TEST_F(SlurmSettleTest, WhatSlurmHasForgottenBeforeItBeganCanBeSubmittedAgain) {
  submitted();
  const jobs::Transition now = settled();
  EXPECT_EQ(now.status, P::kPending);
  EXPECT_NE(now.message.find("job resume"), std::string::npos) << now.message;
}

TEST_F(SlurmSettleTest, ALostAgentsJobGoesBackIntoTheQueueWhileItHasRetries) {
  submitted();
  moved({P::kStarting, P::kTraining});
  lists("FAILED", "NonZeroExitCode");
  const jobs::Transition now = settled();
  EXPECT_EQ(now.status, P::kInterrupted);
  EXPECT_EQ(now.cause, jobs::kAgentLost);
  EXPECT_EQ(asked(), "scontrol requeue 17\nscontrol update jobid=17 starttime=now+2\n");
  moved({P::kRestarting, P::kStarting, P::kTraining});
  restarts_ = 1;
  lists("FAILED", "NonZeroExitCode");
  EXPECT_EQ(settled().status, P::kFailed) << "it has one retry";
}

TEST_F(SlurmSettleTest, WhatSlurmDoesNotHaveFromThisFolderIsNotPutBack) {
  submitted();
  moved({P::kStarting, P::kTraining});
  script_ = "/somewhere/else/slurm/1/batch.sh";
  lists("FAILED", "NonZeroExitCode");
  const jobs::Transition now = settled();
  EXPECT_EQ(now.status, P::kInterrupted);
  EXPECT_NE(now.message.find("`trainwarden job resume bert-7`"), std::string::npos) << now.message;
  EXPECT_EQ(asked(), "");
}

// A controller that was killed has forgotten that it has started the job.
TEST_F(SlurmSettleTest, ACancelThatNobodyAskedForIsALoss) {
  submitted();
  moved({P::kStarting, P::kTraining});
  nodes_.clear();
  lists("CANCELLED");
  EXPECT_EQ(settled().status, P::kInterrupted);
  EXPECT_NE(asked().find("requeue 17"), std::string::npos);
}

TEST_F(SlurmSettleTest, WhatHasWaitedTooLongIsCancelledAndSaysWhy) {
  submitted();
  may_wait(3600, {});
  clock_.later_ns = std::int64_t{3601} * 1'000'000'000;
  lists("PENDING", "Resources");
  EXPECT_EQ(settled().status, P::kStopping);
  EXPECT_EQ(asked(), "scancel 17\n");
  lists("CANCELLED");
  EXPECT_EQ(settled().status, P::kMaxWaitTimeExceeded);
}

TEST_F(SlurmSettleTest, WhatWasPendingTooLongIsStopped) {
  submitted();
  may_wait({}, 60);
  clock_.later_ns = std::int64_t{61} * 1'000'000'000;
  lists("CANCELLED");
  const jobs::Transition now = settled();
  EXPECT_EQ(now.status, P::kStopped);
  EXPECT_EQ(job_->transitions()->at(1).cause, "max_pending");
}

TEST_F(SlurmSettleTest, AnAgentThatComesTooLateDoesNotBegin) {
  submitted();
  may_wait({}, 60);
  clock_.later_ns = std::int64_t{61} * 1'000'000'000;
  EXPECT_TRUE(run_slurm_agent(*job_, {kId, 0}, slurm_.commands(), clock_, {}).ok());
  EXPECT_EQ(job_->current()->status, P::kStopped);
  EXPECT_FALSE(std::filesystem::exists(job_->output()));
}

// Slurm did not answer when its user stopped it.
TEST_F(SlurmSettleTest, AStopThatDidNotReachSlurmIsHandedOnByTheNextLook) {
  submitted();
  ASSERT_TRUE(job_->request_stop("user", "", clock_).ok());
  script_ = "/somewhere/else/slurm/1/batch.sh";
  lists("PENDING", "Resources");
  EXPECT_EQ(settled().status, P::kStopping);
  EXPECT_EQ(asked(), "") << "of another folder";
  script_ = (*newest_submission(job_->place()))->intent.arguments.back();
  lists("PENDING", "Resources");
  EXPECT_EQ(settled().status, P::kStopping);
  EXPECT_EQ(asked(), "scancel 17\n");
}

TEST_F(SlurmSettleTest, OneLookIsForAllJobs) {
  submitted();
  slurm_.answers("squeue", fmt::format("echo x >> {}/looks; echo '{{\"jobs\": [{{\"job_id\": {}, \"comment\": \"{}\", "
                                       "\"user_id\": {}, \"job_state\": \"PENDING\"}}]}}'",
                                       slurm_.folder().string(), kId, comment_, ::getuid()));
  SlurmView view(slurm_.commands());
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(settle(*job_, view, clock_).ok());
  EXPECT_EQ(std::filesystem::file_size(slurm_.folder() / "looks"), 2U);
}

TEST_F(SlurmSettleTest, AnAgentOfAnotherSubmissionDoesNotBegin) {
  submitted();
  EXPECT_EQ(run_slurm_agent(*job_, {kId + 1, 0}, slurm_.commands(), clock_, {}).code(), Code::kFailedPrecondition);
  EXPECT_EQ(job_->current()->status, P::kPending);
}

TEST_F(SlurmSettleTest, AnAgentWritesItsNumberWhenNobodyHas) {
  ASSERT_TRUE(run_slurm_agent(*job_, {kId, 0}, slurm_.commands(), clock_, {}).ok());
  EXPECT_EQ((*newest_submission(job_->place()))->submitted->id, kId);
  EXPECT_EQ(job_->current()->status, P::kCompleted);
}

TEST_F(SlurmSettleTest, TheNextAgentGoesOnWhereSlurmHasEndedTheFirst) {
  submitted();
  moved({P::kStarting, P::kTraining});
  ASSERT_TRUE(run_slurm_agent(*job_, {kId, 1}, slurm_.commands(), clock_, {}).ok());
  const auto all = job_->transitions();
  ASSERT_TRUE(all.ok());
  std::vector<P> ways;
  for (const jobs::Transition& one : *all) ways.push_back(one.status);
  EXPECT_EQ(ways, (std::vector<P>{P::kPending, P::kStarting, P::kTraining, P::kInterrupted, P::kRestarting,
                                  P::kStarting, P::kTraining, P::kCompleted}));
  EXPECT_EQ(jobs::attempt_of(*all), 2);
}

TEST_F(SlurmSettleTest, TheNextAgentBeginsNoAttemptThatTheUserDidNotAllow) {
  submitted();
  moved({P::kStarting, P::kTraining, P::kInterrupted, P::kRestarting, P::kStarting, P::kTraining});
  EXPECT_EQ(run_slurm_agent(*job_, {kId, 2}, slurm_.commands(), clock_, {}).code(), Code::kFailedPrecondition);
  EXPECT_EQ(job_->current()->status, P::kFailed);
}

TEST_F(SlurmSettleTest, AnAgentOfAJobThatHasEndedDoesNotBegin) {
  submitted();
  moved({P::kStarting, P::kTraining, P::kCompleted});
  EXPECT_EQ(run_slurm_agent(*job_, {kId, 1}, slurm_.commands(), clock_, {}).code(), Code::kFailedPrecondition);
}

}  // namespace
}  // namespace trainwarden::slurm
