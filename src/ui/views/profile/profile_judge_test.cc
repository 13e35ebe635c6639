#include "ui/views/profile/profile_judge.h"

#include <gtest/gtest.h>

#include "read/trial/run_testing.h"

namespace trainwarden::views {
namespace {

void add_waiting(TestRun& run, std::int64_t first, std::int64_t last, float waits) {
  for (std::int64_t step = first; step <= last; ++step) {
    TestStep made{.step = step, .mode = Mode::kTrain};
    made.tensors = {scalar("phase/step", 1, {"scalars"}), scalar("phase/data_wait", waits, {"scalars"}),
                    scalar("phase/forward", 1 - waits, {"scalars"})};
    run.add(made);
  }
}

TEST(ProfileJudge, AFindingComesFirstWithItsGain) {
  TestRun run;
  add_waiting(run, 1, 100, 0.5F);
  run.end();
  const auto trial = run.open();
  ProfileJudge judge(*trial, {}, {"InputBound", "LossNotDecreasing"});
  ASSERT_TRUE(judge.judge(std::chrono::minutes(1), {}).ok());
  EXPECT_FALSE(judge.is_behind());
  const auto rules = judge.rules();
  ASSERT_EQ(rules.size(), 2U);
  EXPECT_EQ(rules[0].rule, "InputBound");
  EXPECT_EQ(rules[0].status, JudgedRule::Status::kFired);
  ASSERT_TRUE(rules[0].gain);
  EXPECT_NEAR(rules[0].gain->expected, 2, 0.1);
  ASSERT_TRUE(rules[0].step_share);
  EXPECT_NEAR(*rules[0].step_share, 0.5, 0.01);
  EXPECT_FALSE(rules[0].parameters.empty());
  const ProfileVerdict verdict = verdict_of(rules, false);
  EXPECT_EQ(verdict.kind, ProfileVerdict::Kind::kFinding);
  EXPECT_EQ(verdict.rule, "InputBound");
}

TEST(ProfileJudge, ARuleThatDidNotFireSaysWhy) {
  TestRun run;
  add_waiting(run, 1, 100, 0.001F);
  run.end();
  const auto trial = run.open();
  ProfileJudge judge(*trial, {}, {"InputBound"});
  ASSERT_TRUE(judge.judge(std::chrono::minutes(1), {}).ok());
  const auto rules = judge.rules();
  ASSERT_EQ(rules.size(), 1U);
  EXPECT_EQ(rules[0].status, JudgedRule::Status::kOk);
  EXPECT_FALSE(rules[0].message.empty());
  EXPECT_EQ(verdict_of(rules, false).kind, ProfileVerdict::Kind::kNothingFound);
}

TEST(ProfileJudge, TooFewStepsAreSaidToBeTooFew) {
  TestRun run;
  add_waiting(run, 1, 3, 0.5F);
  run.end();
  const auto trial = run.open();
  ProfileJudge judge(*trial, {}, {"InputBound"});
  ASSERT_TRUE(judge.judge(std::chrono::minutes(1), {}).ok());
  const auto rules = judge.rules();
  ASSERT_EQ(rules.size(), 1U);
  EXPECT_EQ(rules[0].status, JudgedRule::Status::kInsufficientData);
  const ProfileVerdict verdict = verdict_of(rules, false);
  EXPECT_EQ(verdict.kind, ProfileVerdict::Kind::kNotEnoughData);
  EXPECT_NE(verdict.text.find(rules[0].message), std::string::npos) << verdict.text;
}

TEST(ProfileJudge, GivenParametersGoBeforeTheDefaults) {
  TestRun run;
  add_waiting(run, 1, 100, 0.5F);
  run.end();
  const auto trial = run.open();
  ProfileJudge judge(*trial, {{"InputBound", {{"threshold", "0.9"}}}}, {"InputBound", "StepOutlier"});
  ASSERT_TRUE(judge.judge(std::chrono::minutes(1), {}).ok());
  const auto rules = judge.rules();
  ASSERT_EQ(rules.size(), 2U);
  EXPECT_EQ(rules[0].status, JudgedRule::Status::kOk) << "half of the time is put up with";
  EXPECT_EQ(rules[0].parameters.at("threshold"), "0.9");
  EXPECT_EQ(rules[0].parameters.at("min_seconds"), "0.002");
  EXPECT_EQ(rules[1].parameters.at("threshold"), "0.1") << "of another rule";
  ProfileJudge wrong(*trial, {{"InputBound", {{"threshold", "much"}}}}, {"InputBound"});
  EXPECT_EQ(wrong.rules().at(0).status, JudgedRule::Status::kError);
}

TEST(ProfileJudge, CountsWhatARuleSaid) {
  TestRun run;
  add_waiting(run, 1, 100, 0.001F);
  add_waiting(run, 101, 200, 0.5F);
  add_waiting(run, 201, 1000, 0.001F);
  add_waiting(run, 1001, 2000, 0.5F);
  run.end();
  const auto trial = run.open();
  ProfileJudge judge(*trial, {}, {"InputBound"});
  ASSERT_TRUE(judge.judge(std::chrono::minutes(1), {}).ok());
  const JudgedRule rule = judge.rules().at(0);
  EXPECT_EQ(rule.status, JudgedRule::Status::kFired);
  EXPECT_EQ(rule.episodes, 2U) << "it judges all steps so far, of which at the 1000th few had waited";
  EXPECT_GT(rule.firings, 1000U);
  EXPECT_GT(rule.judgements, rule.firings + 100) << "there were steps that did not wait";
}

TEST(ProfileJudge, GoesOnWhereItsTimeWasUp) {
  TestRun run;
  add_waiting(run, 1, 100, 0.5F);
  run.end();
  const auto trial = run.open();
  ProfileJudge judge(*trial, {}, {"InputBound"});
  int calls = 0;
  do {
    ASSERT_TRUE(judge.judge(std::chrono::nanoseconds(1), {}).ok());
  } while (judge.is_behind() && ++calls < 1'000);
  EXPECT_GT(calls, 0);
  EXPECT_EQ(judge.rules()[0].status, JudgedRule::Status::kFired);
}

JudgedRule fired(const char* name, double gain, const char* explained_by = "") {
  JudgedRule rule;
  rule.rule = name;
  rule.status = JudgedRule::Status::kFired;
  rule.message = name;
  rule.gain = Gain{gain, gain, gain};
  rule.explained_by = explained_by;
  return rule;
}

TEST(ProfileJudge, TheVerdictIsTheFirstFinding) {
  EXPECT_EQ(verdict_of({fired("A", 3), fired("B", 2)}, false).rule, "A");
  EXPECT_EQ(verdict_of({}, false).kind, ProfileVerdict::Kind::kNotEnoughData);
  EXPECT_EQ(verdict_of({}, true).kind, ProfileVerdict::Kind::kNotEnoughData);
}

}  // namespace
}  // namespace trainwarden::views
