#include "work/jobs/job_record.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/base/bytes.h"
#include "core/base/folder_testing.h"
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
            .host = "here",
            .launcher = {"trainwarden", "run"},
            .program = {"./train", "a b"},
            .environment = {{"A", "1"}},
            .environment_file = "/jobs/first/environment-1",
            .folder = "/work",
            .run = "/runs/" + name,
            .needs = {.cpus = 2, .memory_bytes = 1024},
            .priority = -3,
            .max_run_seconds = 3600,
            .max_pending_seconds = 7.5,
            .retries = 1,
            .grace_seconds = 0.5,
            .spec = "program = './train'\n",
            .spec_file = "/work/job.toml"};
  }

  void move(JobRecord& job, const std::vector<S>& way) {
    for (const S next : way) {
      const auto moved = job.advance(*job.current(), next, "test", "", clock_);
      ASSERT_TRUE(moved.ok()) << moved.status().to_string();
    }
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

// Whoever waits for its end must not wait for ever.
TEST_F(JobRecordTest, AJobThatIsRemovedIsMissedAlsoWhenAnotherOneHasItsName) {
  const TestFolder folder;
  const storage::Location jobs(folder.path());
  Result<JobRecord> job = JobRecord::create(jobs, order("w1"));
  ASSERT_TRUE(job.ok() && job->advance(*job->current(), S::kStopping, "user", "", clock_).ok());
  const Transition stopping = *job->current();
  std::filesystem::remove_all(folder.path() / "w1");
  const auto expect_missed = [&] {
    for (const Status& status :
         {job->settle(clock_).status(), job->current().status(), job->newest_after(stopping).status(),
          job->request_stop("user", "", clock_).status()}) {
      EXPECT_EQ(status.code(), Code::kNotFound) << status.to_string();
      EXPECT_EQ(status.message(), "job w1 was removed meanwhile");
    }
  };
  expect_missed();
  clock_.advance_ns(1);
  Result<JobRecord> another = JobRecord::create(jobs, order("w1"));
  ASSERT_TRUE(another.ok()) << another.status().to_string();
  expect_missed();
  EXPECT_EQ(another->settle(clock_)->status, S::kPending);
}

TEST_F(JobRecordTest, AJobWhoseFileIsTouchedOrDamagedIsStillThere) {
  const TestFolder folder;
  const std::filesystem::path file = folder.path() / "kept" / kOrderFile;
  const Result<JobRecord> job = JobRecord::create(folder.path(), order("kept"));
  ASSERT_TRUE(job.ok());
  std::filesystem::permissions(file, std::filesystem::perms::owner_read);
  EXPECT_TRUE(job->current().ok());
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  std::ofstream(file) << "{";
  EXPECT_TRUE(job->current().ok());
  const Status damaged = JobRecord::open(folder.path(), "kept").status();
  EXPECT_EQ(damaged.code(), Code::kDataLoss);
  EXPECT_NE(damaged.message().find("`trainwarden job rm kept` removes it"), std::string::npos) << damaged.message();
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

TEST_F(JobRecordTest, AJobThatWaitsNeedsNoAgent) {
  JobRecord job = create();
  clock_.advance_ns(3600'000'000'000);
  EXPECT_EQ(job.settle(clock_)->status, S::kPending);
  ASSERT_TRUE(job.request_stop("user", "asked", clock_).ok());
  const auto stopped = job.settle(clock_);
  ASSERT_TRUE(stopped.ok());
  EXPECT_EQ(stopped->status, S::kStopped);
  EXPECT_EQ(stopped->message, "stopped before its start");
}

// The fixture's jobs have one retry.
TEST_F(JobRecordTest, AJobWhoseAgentIsGoneGoesOnAsOftenAsItMayAndThenHasFailed) {
  JobRecord job = create();
  move(job, {S::kStarting, S::kTraining});
  const auto interrupted = job.settle(clock_);
  ASSERT_TRUE(interrupted.ok());
  EXPECT_EQ(interrupted->status, S::kInterrupted);
  EXPECT_EQ(interrupted->cause, "agent lost");
  EXPECT_EQ(job.settle(clock_)->seq, interrupted->seq);
  move(job, {S::kRestarting, S::kStarting});
  const auto failed = job.settle(clock_);
  ASSERT_TRUE(failed.ok());
  EXPECT_EQ(failed->status, S::kFailed);
  EXPECT_EQ(job.settle(clock_)->seq, failed->seq);
}

TEST_F(JobRecordTest, AStoppingJobWhoseAgentIsGoneIsStopped) {
  JobRecord job = create();
  move(job, {S::kStarting, S::kTraining});
  ASSERT_TRUE(job.request_stop("max_run", "its time is up", clock_).ok());
  EXPECT_EQ(job.settle(clock_)->status, S::kMaxRuntimeExceeded);
}

TEST_F(JobRecordTest, ResultsThatWereNotStoredAreStoredByTheNextAgent) {
  JobRecord job = create();
  move(job, {S::kStarting, S::kTraining, S::kUploading});
  ASSERT_TRUE(job.prepare_attempt(1).ok() && job.write_exit(1, {.code = 0}).ok());
  for (int lost = 0; lost < 3; ++lost) {
    ASSERT_EQ(job.settle(clock_)->status, S::kInterrupted) << "a retry is not used up";
    move(job, {S::kRestarting, S::kStarting, S::kUploading});
  }
  EXPECT_EQ(job.settle(clock_)->cause, "agent lost") << "some time it is enough";
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
        Case{"judged", S::kTraining, {.code = 0, .stopped_by_rule = true}, S::kStopped},
        Case{"preempted", S::kTraining, {.code = 0, .preempted = true}, S::kInterrupted}}) {
    JobRecord job = create(one.name);
    move(job, {S::kStarting, S::kTraining});
    if (one.before == S::kStopping) move(job, {S::kStopping});
    ASSERT_TRUE(job.prepare_attempt(1).ok() && job.write_exit(1, one.exit).ok());
    const auto settled = job.settle(clock_);
    ASSERT_TRUE(settled.ok()) << settled.status().to_string();
    EXPECT_EQ(settled->status, one.after) << one.name;
    EXPECT_EQ(job.finish(one.exit, clock_)->seq, settled->seq);
  }
}

// `trainwarden run` has written how the program ended, and then the agent was killed.
TEST_F(JobRecordTest, WhatTheLauncherSawCountsWhenTheAgentSaidNothing) {
  JobRecord job = create();
  move(job, {S::kStarting, S::kTraining});
  ASSERT_TRUE(job.prepare_attempt(1).ok());
  ASSERT_TRUE(storage_->replace("first/attempts/1/launch.json", as_bytes(encode_exit({.code = 0}))).ok());
  EXPECT_EQ(job.settle(clock_)->status, S::kCompleted);
}

TEST_F(JobRecordTest, AJobWhoseAgentLivesIsLeftAlone) {
  JobRecord job = create();
  auto lease = job.take_agent_lease(clock_);
  ASSERT_TRUE(lease.ok()) << lease.status().to_string();
  EXPECT_EQ(job.take_agent_lease(clock_).status().code(), Code::kAlreadyExists);
  ASSERT_TRUE(job.agent_sign(clock_));
  EXPECT_EQ(job.agent_sign(clock_)->pid, ::getpid());
  EXPECT_EQ(job.agent_sign(clock_)->next_unix_ns, clock_.unix_ns() + storage::kLeasePromiseNs);
  move(job, {S::kStarting, S::kTraining});
  EXPECT_EQ(job.settle(clock_)->status, S::kTraining);
  ASSERT_TRUE((*lease)->end().ok());
  lease = Status(Code::kCancelled, "gone");
  EXPECT_FALSE(job.agent_sign(clock_));
  EXPECT_EQ(job.settle(clock_)->status, S::kInterrupted);
}

TEST_F(JobRecordTest, WhatHasEndedOtherwiseThanWellIsResumed) {
  JobRecord job = create();
  EXPECT_EQ(job.resume("go on", clock_).status().code(), Code::kFailedPrecondition) << "it has not ended";
  move(job, {S::kStarting, S::kTraining, S::kFailed});
  const auto resumed = job.resume("go on", clock_);
  ASSERT_TRUE(resumed.ok()) << resumed.status().to_string();
  EXPECT_EQ(resumed->status, S::kRestarting);
  EXPECT_EQ(attempt_of(*job.transitions()), 2);
  move(job, {S::kStarting, S::kTraining, S::kCompleted});
  EXPECT_EQ(job.resume("again", clock_).status().code(), Code::kFailedPrecondition);
}

TEST_F(JobRecordTest, HowItEndedIsWrittenOnce) {
  JobRecord job = create();
  EXPECT_FALSE(job.read_exit(1)->has_value());
  const JobExit exit{.code = std::nullopt, .signal = 9, .wall_ns = 5, .stopped_by_rule = true, .killed = true};
  ASSERT_TRUE(job.prepare_attempt(1).ok() && job.write_exit(1, exit).ok());
  EXPECT_EQ(job.write_exit(1, {.code = 0}).code(), Code::kAlreadyExists);
  ASSERT_TRUE(job.read_exit(1)->has_value());
  EXPECT_EQ(**job.read_exit(1), exit);
  EXPECT_FALSE(job.read_exit(2)->has_value()) << "each attempt has its own";
}

TEST_F(JobRecordTest, AnAllocationIsReadAsItWasWritten) {
  JobRecord job = create();
  EXPECT_FALSE(job.read_allocation(1)->has_value());
  for (const Allocation& one : {Allocation(), Allocation{{{0, 3}}, {{}}, 5}}) {
    ASSERT_TRUE(job.write_allocation(1, one).ok());
    ASSERT_TRUE(job.read_allocation(1)->has_value());
    EXPECT_EQ(**job.read_allocation(1), one);
  }
}

TEST_F(JobRecordTest, DamageIsToldWithItsPlace) {
  create();
  const auto damage = [&](const std::string& file, std::string_view text) {
    ASSERT_TRUE(storage_->replace(file, as_bytes(text)).ok());
  };
  damage("first/state/000002.json", "{}");
  EXPECT_EQ(JobRecord::open(jobs_, "first")->current().status().code(), Code::kDataLoss);
  damage("first/state/000002.json", encode_transition({3, 1, S::kStarting, "", ""}));
  EXPECT_EQ(JobRecord::open(jobs_, "first")->current().status().code(), Code::kDataLoss) << "another's number";
  ASSERT_TRUE(storage_->create_folder("first/attempts/1").ok());
  damage("first/attempts/1/exit.json", "{\"code\": 999}");
  EXPECT_EQ(JobRecord::open(jobs_, "first")->read_exit(1).status().code(), Code::kDataLoss);
  damage("first/attempts/1/allocation.json", R"({"cpus": [-1], "gpus": null, "memory_bytes": 0})");
  EXPECT_EQ(JobRecord::open(jobs_, "first")->read_allocation(1).status().code(), Code::kDataLoss);
  for (const char* text : {"", "[]", "{\"format\": 1}", "{\"format\": 1, \"name\": 7}"}) {
    damage("first/job.json", text);
    EXPECT_EQ(JobRecord::open(jobs_, "first").status().code(), Code::kDataLoss) << text;
  }
  damage("first/job.json", "{\"format\": 2}");
  EXPECT_EQ(JobRecord::open(jobs_, "first").status().code(), Code::kUnimplemented);
}

}  // namespace
}  // namespace trainwarden::jobs
