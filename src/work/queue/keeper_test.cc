#include "work/queue/keeper.h"

#include <gtest/gtest.h>

#include <thread>

#include "core/base/await_testing.h"
#include "core/base/folder_testing.h"
#include "work/jobs/job_record.h"

namespace trainwarden::queue {
namespace {

using jobs::JobPhase;
using std::chrono::milliseconds;

// Agents are lines of a shell: what keeps them is real, what they do is not.
class KeeperTest : public testing::Test {
 protected:
  jobs::JobRecord submit(const std::string& name, jobs::JobOrder order = {}) {
    order.name = name;
    order.submitted_unix_ns = system_clock().unix_ns();
    order.program = {"true"};
    EXPECT_TRUE(queue_.enter(name).ok());
    auto record = jobs::JobRecord::create(jobs_, order);
    EXPECT_TRUE(record.ok());
    return *record;
  }

  // Until the queue is empty. `agent` is run in this process each time one is started.
  Status keep(const std::function<void(jobs::JobRecord&)>& agent) {
    KeeperSurroundings surroundings;
    surroundings.machine = {{0, 1}, {}, 1000};
    surroundings.idle = milliseconds(100);
    surroundings.pause = [](milliseconds time) {
      std::this_thread::sleep_for(time / 10);
      return true;
    };
    surroundings.start_agent = [&](const std::string& name) -> Result<process::Child> {
      started_.push_back(name);
      auto record = jobs::JobRecord::open(jobs_, name);
      if (record.ok()) agent(*record);
      return process::Child::start({.command = {"true"}});
    };
    surroundings.may_start = may_start_;
    return keep_queue(jobs_, queue_, system_clock(), std::move(surroundings));
  }

  static void move(jobs::JobRecord& job, const std::vector<JobPhase>& way) {
    for (const JobPhase next : way) {
      EXPECT_TRUE(job.advance(*job.current(), next, "test", "", system_clock()).ok()) << name(next);
    }
  }

  static void complete(jobs::JobRecord& job) {
    move(job, {JobPhase::kStarting, JobPhase::kTraining, JobPhase::kCompleted});
  }

  TestFolder folder_;
  storage::Location jobs_{folder_.path()};
  JobQueue queue_{folder_.path(), "here"};
  std::vector<std::string> started_;
  std::function<Status(const jobs::JobRecord&)> may_start_;
  std::vector<std::unique_ptr<storage::Lease>> leases_;
};

TEST_F(KeeperTest, WhatItMayNotStartLeavesTheQueue) {
  submit("mine");
  const jobs::JobRecord others = submit("others");
  may_start_ = [](const jobs::JobRecord& job) {
    return job.order().name == "mine" ? Status() : Status(Code::kPermissionDenied, "not mine");
  };
  ASSERT_TRUE(keep(complete).ok());
  EXPECT_EQ(started_, std::vector<std::string>{"mine"});
  EXPECT_TRUE(queue_.names()->empty());
  EXPECT_EQ(others.current()->status, JobPhase::kPending);
}

TEST_F(KeeperTest, StartsAllOnceInTheirOrderAndEnds) {
  submit("first");
  submit("second");
  jobs::JobOrder urgent;
  urgent.priority = 7;
  submit("urgent", urgent);
  ASSERT_TRUE(keep(complete).ok());
  EXPECT_EQ(started_, (std::vector<std::string>{"urgent", "first", "second"}));
  EXPECT_TRUE(queue_.names()->empty());
  EXPECT_FALSE(queue_.has_keeper(system_clock()));
}

TEST_F(KeeperTest, WhatWasInterruptedGoesOn) {
  jobs::JobOrder order;
  order.retries = 1;
  jobs::JobRecord job = submit("again", order);
  ASSERT_TRUE(keep([](jobs::JobRecord& record) {
                const int attempt = jobs::attempt_of(*record.transitions());
                EXPECT_TRUE(record.read_allocation(attempt)->has_value());
                if (attempt == 2) return complete(record);
                move(record, {JobPhase::kStarting, JobPhase::kTraining});  // and nobody is there
              }).ok());
  EXPECT_EQ(started_.size(), 2u);
  EXPECT_EQ(job.current()->status, JobPhase::kCompleted);
}

TEST_F(KeeperTest, AnAgentThatNeverBeginsIsGivenUp) {
  jobs::JobRecord job = submit("stillborn");
  ASSERT_TRUE(keep([](jobs::JobRecord&) {}).ok());
  EXPECT_EQ(started_.size(), 3u);
  EXPECT_EQ(job.current()->status, JobPhase::kFailed);
  EXPECT_NE(job.current()->message.find("its agent cannot be started"), std::string::npos);
}

TEST_F(KeeperTest, AJobThatIsStoppedWhileItWaitsIsNotStarted) {
  jobs::JobRecord job = submit("waits");
  ASSERT_TRUE(job.request_stop("user", "enough", system_clock()).ok());
  ASSERT_TRUE(keep(complete).ok());
  EXPECT_TRUE(started_.empty());
  EXPECT_EQ(job.current()->status, JobPhase::kStopped);
}

TEST_F(KeeperTest, AJobWaitsNoLongerThanItMay) {
  jobs::JobOrder order;
  order.needs.cpus = 99;  // there is never room
  order.max_pending_seconds = 0.1;
  jobs::JobRecord pending = submit("pending", order);
  order.max_pending_seconds.reset();
  order.max_wait_seconds = 0.1;
  jobs::JobRecord waiting = submit("waiting", order);
  ASSERT_TRUE(keep(complete).ok());
  EXPECT_TRUE(started_.empty());
  EXPECT_EQ(pending.current()->status, JobPhase::kStopped);
  EXPECT_EQ(waiting.current()->status, JobPhase::kMaxWaitTimeExceeded);
}

// It has failed, the keeper is about to forget it, and at that moment somebody resumes it.
TEST_F(KeeperTest, AJobThatIsResumedAtOnceIsNotForgotten) {
  jobs::JobRecord job = submit("again");
  move(job, {JobPhase::kStarting, JobPhase::kTraining, JobPhase::kFailed});
  std::jthread user([&] {
    // Its place in the queue was there already, and is taken away between this and the next line.
    EXPECT_TRUE(await([&] { return queue_.names()->empty(); }, milliseconds(1)));
    EXPECT_TRUE(job.resume("asked", system_clock()).ok());
    EXPECT_TRUE(queue_.enter("again").ok());
  });
  ASSERT_TRUE(keep(complete).ok());
  user.join();
  ASSERT_TRUE(keep(complete).ok());
  EXPECT_EQ(started_, std::vector<std::string>{"again"});
}

// A job that waits is removed, and another one submitted under its name, before the keeper looks again.
TEST_F(KeeperTest, AJobThatIsSubmittedAnewUnderItsNameIsNotForgotten) {
  jobs::JobOrder wide;
  wide.needs.cpus = 2;
  wide.priority = 1;
  submit("first", wide);
  submit("again", wide);
  const auto agent = [&](jobs::JobRecord& job) {
    if (job.order().name == "first") {
      std::filesystem::remove_all(folder_.path() / "again");
      submit("again");
    }
    complete(job);
  };
  ASSERT_TRUE(keep(agent).ok());
  EXPECT_EQ(started_, (std::vector<std::string>{"first", "again"}));
  EXPECT_EQ(jobs::JobRecord::open(jobs_, "again")->current()->status, JobPhase::kCompleted);
}

TEST_F(KeeperTest, ASecondKeeperLeavesItToTheFirst) {
  submit("one");
  const auto lease = queue_.take_keeper_lease(system_clock());
  ASSERT_TRUE(lease.ok());
  ASSERT_TRUE(keep(complete).ok());
  EXPECT_TRUE(started_.empty());
}

TEST_F(KeeperTest, ADamagedJobHoldsUpNobody) {
  submit("good");
  submit("bad");
  ASSERT_TRUE(jobs_.storage().replace("bad/job.json", {}).ok());
  ASSERT_TRUE(keep(complete).ok());
  EXPECT_EQ(started_, std::vector<std::string>{"good"});
  EXPECT_TRUE(queue_.names()->empty());
}

TEST_F(KeeperTest, SaysWhyJobsWait) {
  jobs::JobOrder order;
  order.needs.cpus = 2;
  submit("a", order);
  jobs::JobRecord second = submit("b", order);
  std::string reason;
  std::optional<jobs::JobRecord> first;
  int looks = 0;
  KeeperSurroundings surroundings;
  surroundings.machine = {{0, 1}, {}, 0};
  surroundings.idle = milliseconds(50);
  surroundings.start_agent = [&](const std::string& name) -> Result<process::Child> {
    first = *jobs::JobRecord::open(jobs_, name);
    move(*first, {JobPhase::kStarting, JobPhase::kTraining});
    leases_.push_back(*first->take_agent_lease(system_clock()));
    return process::Child::start({.command = {"sleep", "30"}});
  };
  surroundings.pause = [&](milliseconds) {
    reason = queue_.reasons()["b"];
    return ++looks < 3;
  };
  ASSERT_TRUE(keep_queue(jobs_, queue_, system_clock(), std::move(surroundings)).ok());
  EXPECT_EQ(reason, "waits for 2 processors: 0 of 2 free");
}

}  // namespace
}  // namespace trainwarden::queue
