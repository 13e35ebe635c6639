#include "work/jobs/job_record.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "core/base/bytes.h"
#include "store/storage/memory_storage.h"

namespace trainwarden::jobs {
namespace {

using S = JobPhase;

class JobRecordTest : public testing::Test {
 protected:
  JobRecord create(const std::string& name = "first") {
    Result<JobRecord> record = JobRecord::create(jobs_, order(name));
    EXPECT_TRUE(record.ok()) << record.status().to_string();
    return *record;
  }

  JobOrder order(const std::string& name) const {
    return {.name = name,
            .submitted_unix_ns = clock_.unix_ns(),
            .command = {"trainwarden", "run", "--", "./train", "a b"},
            .environment = {{"A", "1"}},
            .folder = "/work",
            .run = "/runs/" + name,
            .max_run_seconds = 3600,
            .grace_seconds = 0.5,
            .spec = "program = './train'\n"};
  }

  FakeClock clock_;
  std::shared_ptr<storage::Storage> storage_ = storage::create_memory_storage();
  storage::Location jobs_{storage_, "jobs"};
};

TEST_F(JobRecordTest, IsReadAsItWasWritten) {
  create();
  const Result<JobRecord> read = JobRecord::open(jobs_, "first");
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(read->order(), order("first"));
  const auto transitions = read->transitions();
  ASSERT_TRUE(transitions.ok());
  ASSERT_EQ(transitions->size(), 1u);
  EXPECT_EQ(transitions->front().status, S::kPending);
  EXPECT_EQ(JobRecord::list(jobs_).value_or({}), std::vector<std::string>{"first"});
}

TEST_F(JobRecordTest, ANameIsTakenOnce) {
  create();
  EXPECT_EQ(JobRecord::create(jobs_, order("first")).status().code(), Code::kAlreadyExists);
  for (const char* name : {"", "../x", "a/b", "a--b", ".."}) {
    EXPECT_EQ(JobRecord::create(jobs_, order(name)).status().code(), Code::kInvalidArgument) << name;
  }
  EXPECT_NE(JobRecord::open(jobs_, "frist").status().message().find("did you mean \"first\""), std::string::npos);
  EXPECT_EQ(JobRecord::open(jobs_, "../first").status().code(), Code::kNotFound);
}

TEST_F(JobRecordTest, MovesOnByCompareAndSet) {
  JobRecord job = create();
  const Transition pending = *job.current();
  const auto starting = job.advance(pending, S::kStarting, "agent", "", clock_);
  ASSERT_TRUE(starting.ok());
  EXPECT_EQ(job.advance(pending, S::kStopping, "user", "", clock_).status().code(), Code::kAborted);
  EXPECT_EQ(job.advance(*starting, S::kCompleted, "agent", "", clock_).status().code(), Code::kFailedPrecondition);
  EXPECT_EQ(job.current()->status, S::kStarting);
  EXPECT_EQ(job.transitions()->size(), 2u);
}

TEST_F(JobRecordTest, OfManyWhoWantTheNextTransitionOneMakesIt) {
  JobRecord job = create();
  const Transition pending = *job.current();
  std::atomic<int> made = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        JobRecord own = job;
        made += own.advance(pending, S::kStarting, "agent", "", system_clock()).ok() ? 1 : 0;
      });
    }
  }
  EXPECT_EQ(made, 1);
  EXPECT_EQ(job.transitions()->size(), 2u);
}

TEST_F(JobRecordTest, AskingToStopTwiceIsFine) {
  JobRecord job = create();
  EXPECT_EQ(job.request_stop("user", "asked", clock_)->status, S::kStopping);
  EXPECT_EQ(job.request_stop("user", "asked", clock_)->status, S::kStopping);
  ASSERT_TRUE(job.advance(*job.current(), S::kStopped, "agent", "", clock_).ok());
  EXPECT_EQ(job.request_stop("user", "asked", clock_)->status, S::kStopped);
  EXPECT_EQ(job.transitions()->size(), 3u);
}

TEST_F(JobRecordTest, AJobWithoutAnAgentFailsOnce) {
  JobRecord job = create();
  EXPECT_EQ(job.settle(clock_)->status, S::kPending);  // its agent may be on its way
  clock_.advance_ns(31'000'000'000);
  const auto failed = job.settle(clock_);
  ASSERT_TRUE(failed.ok());
  EXPECT_EQ(failed->status, S::kFailed);
  EXPECT_EQ(failed->cause, "agent lost");
  EXPECT_EQ(job.settle(clock_)->seq, failed->seq);
}

TEST_F(JobRecordTest, AnExitRecordSaysHowAJobWithoutAnAgentHasEnded) {
  struct Case {
    std::string name;
    JobPhase before;
    JobExit exit;
    JobPhase after;
  };
  for (const Case& one :
       {Case{"good", S::kTraining, {.code = 0}, S::kCompleted}, Case{"bad", S::kTraining, {.code = 1}, S::kFailed},
        Case{"stopped", S::kStopping, {.code = 1}, S::kStopped},
        Case{"judged", S::kTraining, {.code = 0, .stopped_by_rule = true}, S::kStopped}}) {
    JobRecord job = create(one.name);
    Transition now = *job.current();
    for (const JobPhase phase : {S::kStarting, S::kTraining, S::kStopping}) {
      if (now.status != one.before) now = *job.advance(now, phase, "agent", "", clock_);
    }
    ASSERT_TRUE(job.write_exit(one.exit).ok());
    const auto settled = job.settle(clock_);
    ASSERT_TRUE(settled.ok()) << settled.status().to_string();
    EXPECT_EQ(settled->status, one.after) << one.name;
    EXPECT_EQ(job.finish(one.exit, clock_)->seq, settled->seq);
  }
}

TEST_F(JobRecordTest, AJobWhoseAgentLivesIsLeftAlone) {
  JobRecord job = create();
  auto lease = job.take_agent_lease(clock_);
  ASSERT_TRUE(lease.ok()) << lease.status().to_string();
  EXPECT_EQ(job.take_agent_lease(clock_).status().code(), Code::kAlreadyExists);
  clock_.advance_ns(31'000'000'000);
  EXPECT_EQ(job.settle(clock_)->status, S::kPending);
  ASSERT_TRUE((*lease)->end().ok());
  lease = Status(Code::kCancelled, "gone");
  EXPECT_EQ(job.settle(clock_)->status, S::kFailed);
}

TEST_F(JobRecordTest, HowItEndedIsWrittenOnce) {
  JobRecord job = create();
  EXPECT_FALSE(job.read_exit()->has_value());
  const JobExit exit{.code = std::nullopt, .signal = 9, .wall_ns = 5, .stopped_by_rule = true, .killed = true};
  ASSERT_TRUE(job.write_exit(exit).ok());
  EXPECT_EQ(job.write_exit({.code = 0}).code(), Code::kAlreadyExists);
  ASSERT_TRUE(job.read_exit()->has_value());
  EXPECT_EQ(**job.read_exit(), exit);
}

TEST_F(JobRecordTest, DamageIsToldWithItsPlace) {
  create();
  const auto damage = [&](const std::string& file, std::string_view text) {
    ASSERT_TRUE(storage_->replace(file, as_bytes(text)).ok());
  };
  damage("first/state/000002.json", "{}");
  EXPECT_EQ(JobRecord::open(jobs_, "first")->current().status().code(), Code::kDataLoss);
  damage("first/exit.json", "{\"code\": 999}");
  EXPECT_EQ(JobRecord::open(jobs_, "first")->read_exit().status().code(), Code::kDataLoss);
  for (const char* text : {"", "[]", "{\"format\": 1}", "{\"format\": 1, \"name\": 7}"}) {
    damage("first/job.json", text);
    EXPECT_EQ(JobRecord::open(jobs_, "first").status().code(), Code::kDataLoss) << text;
  }
  damage("first/job.json", "{\"format\": 2}");
  EXPECT_EQ(JobRecord::open(jobs_, "first").status().code(), Code::kUnimplemented);
}

}  // namespace
}  // namespace trainwarden::jobs
