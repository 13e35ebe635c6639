#include "react/events/run_status.h"

#include <map>
#include <set>

#include <gtest/gtest.h>

namespace trainwarden::events {
namespace {

using S = SecondaryStatus;

TEST(RunStatus, HasTheWordsOfTheSource) {
  std::set<std::string_view> words;
  for (const S status : kSecondaryStatuses) {
    words.insert(name(status));
    EXPECT_EQ(secondary_status(name(status)), status);
  }
  EXPECT_EQ(words, (std::set<std::string_view>{"Starting", "Training", "Interrupted", "Restarting", "Stopping",
                                               "Completed", "Failed", "Stopped"}));
  EXPECT_EQ(secondary_status("training"), std::nullopt);
}

TEST(RunStatus, BelongsToAPrimaryOne) {
  const std::map<S, std::string_view> primary = {{S::kStarting, "InProgress"},    {S::kTraining, "InProgress"},
                                                 {S::kInterrupted, "InProgress"}, {S::kRestarting, "InProgress"},
                                                 {S::kStopping, "Stopping"},      {S::kCompleted, "Completed"},
                                                 {S::kFailed, "Failed"},          {S::kStopped, "Stopped"}};
  ASSERT_EQ(primary.size(), kSecondaryStatuses.size());
  for (const auto& [secondary, word] : primary) EXPECT_EQ(name(primary_of(secondary)), word);
}

// The whole table: what may follow what.
TEST(RunStatus, FollowsTheTable) {
  const std::map<S, std::set<S>> table = {
      {S::kStarting, {S::kTraining, S::kInterrupted, S::kStopping, S::kCompleted, S::kFailed, S::kStopped}},
      {S::kTraining, {S::kInterrupted, S::kStopping, S::kCompleted, S::kFailed, S::kStopped}},
      {S::kInterrupted, {S::kRestarting, S::kStopping, S::kFailed, S::kStopped}},
      {S::kRestarting, {S::kTraining, S::kInterrupted, S::kStopping, S::kCompleted, S::kFailed, S::kStopped}},
      {S::kStopping, {S::kCompleted, S::kFailed, S::kStopped}},
      {S::kFailed, {S::kRestarting}},
      {S::kCompleted, {S::kRestarting}},
      {S::kStopped, {S::kRestarting}}};
  ASSERT_EQ(table.size(), kSecondaryStatuses.size());
  for (const S from : kSecondaryStatuses) {
    for (const S to : kSecondaryStatuses) {
      EXPECT_EQ(may_follow(from, to), table.at(from).contains(to)) << name(from) << " to " << name(to);
    }
  }
}

TEST(RunTable, BeginsWithStarting) {
  for (const S status : kSecondaryStatuses) {
    RunTable table;
    EXPECT_EQ(table.advance(status, 5, "x"), status == S::kStarting);
    EXPECT_EQ(table.empty(), status != S::kStarting);
  }
}

TEST(RunTable, OnlyGrowsAtItsEnd) {
  RunTable table;
  ASSERT_TRUE(table.advance(S::kStarting, 10, "made"));
  ASSERT_TRUE(table.advance(S::kTraining, 20, "step"));
  EXPECT_FALSE(table.advance(S::kTraining, 25, "again"));
  EXPECT_FALSE(table.advance(S::kStarting, 25, "back"));
  ASSERT_TRUE(table.advance(S::kCompleted, 30, "done"));
  EXPECT_FALSE(table.advance(S::kFailed, 40, "late"));
  ASSERT_EQ(table.transitions().size(), 3u);
  EXPECT_EQ(table.transitions()[0].end_unix_ns, 20);
  EXPECT_EQ(table.transitions()[1].end_unix_ns, 30);
  EXPECT_EQ(table.transitions()[2].end_unix_ns, 0);
  EXPECT_EQ(table.transitions()[1].message, "step");
}

TEST(RunTable, NeverGoesBackInTime) {
  RunTable table;
  table.advance(S::kStarting, 100, "");
  table.advance(S::kTraining, 50, "of another machine's clock");
  EXPECT_EQ(table.transitions()[1].start_unix_ns, 100);
  EXPECT_EQ(table.transitions()[0].end_unix_ns, 100);
}

TEST(RunTable, CountsAttempts) {
  RunTable table;
  table.advance(S::kStarting, 1, "");
  EXPECT_EQ(table.attempt(), 1);
  table.advance(S::kFailed, 2, "died");
  table.advance(S::kRestarting, 3, "");
  table.advance(S::kTraining, 4, "");
  EXPECT_EQ(table.attempt(), 2);
}

}  // namespace
}  // namespace trainwarden::events
