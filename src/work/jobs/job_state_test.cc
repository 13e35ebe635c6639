#include "work/jobs/job_state.h"

#include <gtest/gtest.h>

#include <vector>

namespace trainwarden::jobs {
namespace {

using S = JobPhase;

const std::vector<S> kAll = {
    S::kPending,    S::kStarting,           S::kDownloading,        S::kTraining, S::kInterrupted,
    S::kRestarting, S::kUploading,          S::kStopping,           S::kStopped,  S::kCompleted,
    S::kFailed,     S::kMaxRuntimeExceeded, S::kMaxWaitTimeExceeded};

TEST(JobState, AJobGoesThroughItsLife) {
  for (const auto& way : {std::vector<S>{S::kPending, S::kStarting, S::kTraining, S::kCompleted},
                          {S::kPending, S::kStarting, S::kTraining, S::kStopping, S::kStopped},
                          {S::kPending, S::kStarting, S::kTraining, S::kStopping, S::kMaxRuntimeExceeded},
                          {S::kPending, S::kStopping, S::kStopped},
                          {S::kPending, S::kStarting, S::kFailed},
                          {S::kPending, S::kStarting, S::kDownloading, S::kTraining, S::kUploading, S::kCompleted},
                          {S::kTraining, S::kInterrupted, S::kRestarting, S::kStarting, S::kTraining},
                          {S::kUploading, S::kInterrupted, S::kRestarting, S::kStarting, S::kUploading},
                          {S::kFailed, S::kRestarting, S::kStopping, S::kStopped, S::kRestarting},
                          {S::kInterrupted, S::kMaxWaitTimeExceeded},
                          {S::kTraining, S::kStopping, S::kFailed}}) {
    for (std::size_t i = 1; i < way.size(); ++i) EXPECT_TRUE(may_follow(way[i - 1], way[i])) << name(way[i]);
  }
}

TEST(JobState, NothingFollowsAnEndAndNothingGoesBack) {
  for (const S before : kAll) {
    for (const S after : kAll) {
      const bool resumed = after == S::kRestarting && before != S::kCompleted;
      EXPECT_TRUE(!is_terminal(before) || may_follow(before, after) == resumed) << name(before) << name(after);
    }
    EXPECT_FALSE(may_follow(before, before));
    EXPECT_FALSE(may_follow(before, S::kPending));
  }
  EXPECT_FALSE(may_follow(S::kTraining, S::kStarting));
  EXPECT_FALSE(may_follow(S::kTraining, S::kStopped));
  EXPECT_FALSE(may_follow(S::kStopping, S::kCompleted));
  EXPECT_FALSE(may_follow(S::kStopping, S::kTraining));
  EXPECT_FALSE(may_follow(S::kPending, S::kInterrupted));
  EXPECT_FALSE(may_follow(S::kPending, S::kRestarting));
}

TEST(JobState, AttemptsAndTheirTimeAreCounted) {
  std::vector<Transition> all;
  const auto add = [&](std::int64_t unix_ns, S status) {
    all.push_back({static_cast<std::int64_t>(all.size()) + 1, unix_ns, status, "", ""});
  };
  add(0, S::kPending);
  EXPECT_EQ(attempt_of(all), 1);
  EXPECT_EQ(run_ns_of(all, 50), 0);
  add(100, S::kTraining);
  EXPECT_EQ(run_ns_of(all, 150), 50);
  add(160, S::kInterrupted);
  add(170, S::kRestarting);
  EXPECT_EQ(attempt_of(all), 2);
  EXPECT_EQ(run_ns_of(all, 999), 60);
  add(1000, S::kTraining);
  add(1030, S::kStopping);
  EXPECT_EQ(run_ns_of(all, 1050), 110) << "it still runs while it is stopping";
  add(1060, S::kStopped);
  EXPECT_EQ(run_ns_of(all, 5000), 120);
}

TEST(JobState, WordsAreSageMakers) {
  EXPECT_EQ(name(S::kMaxRuntimeExceeded), "MaxRuntimeExceeded");
  EXPECT_EQ(status_of(S::kMaxRuntimeExceeded), JobStatus::kStopped);
  EXPECT_EQ(name(status_of(S::kTraining)), "InProgress");
  EXPECT_EQ(name(status_of(S::kStopping)), "Stopping");
}

TEST(JobState, TransitionsSurviveBeingWritten) {
  for (const S status : kAll) {
    const Transition transition{7, 1'700'000'000'000'000'000, status, "user", "stop: \"quoted\"\n"};
    const Result<Transition> read = decode_transition(encode_transition(transition), "t");
    ASSERT_TRUE(read.ok()) << read.status().to_string();
    EXPECT_EQ(*read, transition);
  }
}

TEST(JobState, DamagedTransitionsAreErrors) {
  for (const char* text : {"", "{}", "[]", R"({"seq": 0, "time": 1, "status": "Failed", "cause": "", "message": ""})",
                           R"({"seq": 1, "time": 1, "status": "Gone", "cause": "", "message": ""})",
                           R"({"seq": "1", "time": 1, "status": "Failed", "cause": "", "message": ""})"}) {
    EXPECT_EQ(decode_transition(text, "t").status().code(), Code::kDataLoss) << text;
  }
}

}  // namespace
}  // namespace trainwarden::jobs
