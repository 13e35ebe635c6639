#include "judge/rules/rule_standing.h"

#include <random>

#include <gtest/gtest.h>

namespace trainwarden::rules {
namespace {

using enum RuleStatus;

RuleStatusRecord record(RuleStatus status, std::int64_t unix_ns = 0, std::string details = {}) {
  return {"A", "A", {}, status, std::move(details), {}, unix_ns};
}

class RuleStandingTest : public ::testing::Test {
 protected:
  RuleStatus take(const std::string& journal, RuleStatus status) {
    standings_.take(journal, record(status, ++now_, journal));
    return standings_.standings()[0].status.status;
  }
  const RuleStanding& rule() const { return standings_.standings()[0]; }

  RuleStandings standings_;
  std::int64_t now_ = 0;
};

TEST_F(RuleStandingTest, TellsEachChangeOnce) {
  const auto first = standings_.take("watch-0", record(kInProgress));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->from, std::nullopt);
  EXPECT_EQ(first->to, kInProgress);
  EXPECT_FALSE(standings_.take("watch-0", record(kInProgress)));
  const auto second = standings_.take("watch-0", record(kIssuesFound));
  ASSERT_TRUE(second);
  EXPECT_EQ(second->from, kInProgress);
  EXPECT_EQ(second->to, kIssuesFound);
  EXPECT_FALSE(standings_.take("watch-0", record(kIssuesFound)));
  EXPECT_EQ(rule().transitions.size(), 2u);
}

TEST_F(RuleStandingTest, AnIssueIsForGood) {
  take("watch-0", kInProgress);
  take("watch-0", kIssuesFound);
  for (const RuleStatus status : {kInProgress, kNoIssuesFound, kStopping, kStopped, kNotApplicable, kError}) {
    EXPECT_EQ(take("watch-1", status), kIssuesFound) << name(status);
  }
  EXPECT_EQ(take("watch-0", kInProgress), kIssuesFound);  // starts anew
  EXPECT_EQ(take("watch-0", kError), kIssuesFound);       // and fails: not the one that found the issue
}

TEST_F(RuleStandingTest, FailsAfterItHasFired) {
  take("watch-0", kInProgress);
  take("watch-0", kIssuesFound);
  EXPECT_EQ(take("watch-0", kError), kError);
}

TEST_F(RuleStandingTest, AnotherEngineTakesItUpAgain) {
  for (const RuleStatus end : {kStopped, kError, kNoIssuesFound, kNotApplicable}) {
    standings_ = {};
    take("watch-0", kInProgress);
    if (end == kStopped) take("watch-0", kStopping);
    EXPECT_EQ(take("watch-0", end), end);
    EXPECT_EQ(take("watch-0", kInProgress), kInProgress) << name(end);
    EXPECT_EQ(take("watch-0", kIssuesFound), kIssuesFound) << name(end);
  }
}

TEST_F(RuleStandingTest, IsInProgressAsLongAsOneJudges) {
  take("watch-0", kInProgress);
  take("watch-1", kInProgress);
  EXPECT_EQ(take("watch-0", kStopping), kInProgress);
  EXPECT_EQ(take("watch-0", kStopped), kInProgress);
  EXPECT_EQ(take("watch-1", kIssuesFound), kIssuesFound);
}

TEST_F(RuleStandingTest, TheFirstThatCameToItsEndHasTheWord) {
  take("watch-0", kInProgress);
  take("watch-1", kInProgress);
  take("watch-2", kInProgress);
  EXPECT_EQ(take("watch-0", kStopped), kInProgress);
  EXPECT_EQ(take("watch-1", kNoIssuesFound), kInProgress);
  EXPECT_EQ(take("watch-2", kStopping), kStopping);
  EXPECT_EQ(take("watch-2", kStopped), kNoIssuesFound);
  EXPECT_EQ(rule().journal, "watch-1");
  EXPECT_EQ(rule().first_journal, "watch-0");
  EXPECT_EQ(rule().status.unix_ns, now_);
}

TEST_F(RuleStandingTest, StaysWhereItEnded) {
  take("watch-0", kInProgress);
  take("watch-0", kNoIssuesFound);
  EXPECT_EQ(take("watch-0", kStopped), kNoIssuesFound);
  EXPECT_EQ(take("watch-0", kError), kNoIssuesFound);
}

TEST_F(RuleStandingTest, OfAnEngineThatIsGoneIsStopped) {
  take("watch-0", kInProgress);
  EXPECT_TRUE(standings_.judges("watch-0"));
  EXPECT_TRUE(standings_.engine_gone("watch-1", 5).empty());
  const auto changes = standings_.engine_gone("watch-0", 50);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].to, kStopped);
  EXPECT_EQ(rule().status.details, kEngineGone);
  EXPECT_EQ(rule().status.unix_ns, 50);
  EXPECT_FALSE(standings_.judges("watch-0"));
  EXPECT_TRUE(standings_.engine_gone("watch-0", 60).empty());
}

TEST_F(RuleStandingTest, KnowsRulesByIdAndParameters) {
  standings_.take("watch-0", record(kInProgress));
  RuleStatusRecord other = record(kInProgress);
  other.parameters["threshold"] = "1";
  standings_.take("watch-0", other);
  EXPECT_EQ(standings_.standings().size(), 2u);
}

TEST_F(RuleStandingTest, GoesOnWhereAnotherHasLeftOff) {
  take("watch-0", kInProgress);
  take("watch-1", kInProgress);
  RuleStandings other;
  RuleStanding standing = rule();
  standing.engines.clear();
  other.restore(standing);
  EXPECT_FALSE(other.judges("watch-0"));
  EXPECT_TRUE(other.remember("watch-0", record(kInProgress, 1)));
  EXPECT_TRUE(other.remember("watch-0", record(kNoIssuesFound, 5)));
  EXPECT_TRUE(other.remember("watch-1", record(kInProgress, 2)));
  EXPECT_FALSE(other.judges("watch-0"));
  EXPECT_TRUE(other.judges("watch-1"));
  EXPECT_EQ(other.take("watch-1", record(kStopped, 9))->to, kNoIssuesFound);
  RuleStatusRecord unknown = record(kInProgress);
  unknown.rule_id = "B";
  EXPECT_FALSE(other.remember("watch-0", unknown));
}

// What an engine said before the rule was taken up again is over.
TEST_F(RuleStandingTest, ForgetsOldEndsWhenItIsTakenUpAgain) {
  take("watch-0", kInProgress);
  take("watch-0", kError);
  take("watch-1", kInProgress);
  EXPECT_EQ(take("watch-1", kNoIssuesFound), kNoIssuesFound);
  take("watch-1", kInProgress);
  EXPECT_EQ(take("watch-1", kStopping), kStopping);
  EXPECT_EQ(take("watch-1", kStopped), kStopped);
}

// However the words of several engines are mixed: each change begins where the last one ended, an issue that anybody
// found is found in the end, and when all have come to their end nothing is in progress.
TEST_F(RuleStandingTest, HoldsForAnyInterleaving) {
  const std::vector<std::vector<RuleStatus>> lives = {{kInProgress, kIssuesFound},
                                                      {kInProgress, kNoIssuesFound},
                                                      {kInProgress, kStopping, kStopped},
                                                      {kInProgress, kError},
                                                      {kInProgress, kNotApplicable},
                                                      {kInProgress, kStopping, kStopped, kInProgress, kNoIssuesFound},
                                                      {kInProgress, kIssuesFound, kInProgress, kStopping, kStopped}};
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    RuleStandings standings;
    std::vector<std::vector<RuleStatus>> engines;
    std::vector<std::size_t> at;
    bool issue = false;
    for (unsigned i = 0; i < 1 + random() % 4; ++i) {
      engines.push_back(lives[random() % lives.size()]);
      at.push_back(0);
      for (const RuleStatus status : engines.back()) issue = issue || status == kIssuesFound;
    }
    std::optional<RuleStatus> stands;
    while (true) {
      std::vector<std::size_t> left;
      for (std::size_t i = 0; i < engines.size(); ++i) {
        if (at[i] < engines[i].size()) left.push_back(i);
      }
      if (left.empty()) break;
      const std::size_t engine = left[random() % left.size()];
      const auto change = standings.take("watch-" + std::to_string(engine), record(engines[engine][at[engine]++]));
      if (!change) continue;
      EXPECT_EQ(change->from, stands);
      EXPECT_NE(change->from, change->to);
      EXPECT_NE(stands, kIssuesFound);
      stands = change->to;
    }
    EXPECT_EQ(stands, standings.standings()[0].status.status);
    EXPECT_EQ(stands == kIssuesFound, issue);
    EXPECT_NE(stands, kInProgress);
    EXPECT_NE(stands, kStopping);
  }
}

}  // namespace
}  // namespace trainwarden::rules
