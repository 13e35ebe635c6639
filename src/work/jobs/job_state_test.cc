#include "work/jobs/job_state.h"

#include <gtest/gtest.h>

#include <vector>

namespace trainwarden::jobs {
namespace {

using S = JobPhase;

const std::vector<S> kAll = {S::kPending, S::kStarting,           S::kTraining,  S::kStopping,
                             S::kStopped, S::kMaxRuntimeExceeded, S::kCompleted, S::kFailed};

TEST(JobState, AJobGoesThroughItsLife) {
  for (const auto& way : {std::vector<S>{S::kPending, S::kStarting, S::kTraining, S::kCompleted},
                          {S::kPending, S::kStarting, S::kTraining, S::kStopping, S::kStopped},
                          {S::kPending, S::kStarting, S::kTraining, S::kStopping, S::kMaxRuntimeExceeded},
                          {S::kPending, S::kStopping, S::kStopped},
                          {S::kPending, S::kStarting, S::kFailed},
                          {S::kTraining, S::kStopping, S::kFailed}}) {
    for (std::size_t i = 1; i < way.size(); ++i) EXPECT_TRUE(may_follow(way[i - 1], way[i])) << name(way[i]);
  }
}

TEST(JobState, NothingFollowsAnEndAndNothingGoesBack) {
  for (const S before : kAll) {
    for (const S after : kAll) {
      EXPECT_FALSE(is_terminal(before) && may_follow(before, after)) << name(before) << name(after);
    }
    EXPECT_FALSE(may_follow(before, before));
    EXPECT_FALSE(may_follow(before, S::kPending));
  }
  EXPECT_FALSE(may_follow(S::kTraining, S::kStarting));
  EXPECT_FALSE(may_follow(S::kTraining, S::kStopped));
  EXPECT_FALSE(may_follow(S::kStopping, S::kCompleted));
  EXPECT_FALSE(may_follow(S::kStopping, S::kTraining));
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
