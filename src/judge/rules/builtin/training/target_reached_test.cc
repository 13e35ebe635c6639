#include "judge/rules/builtin/rule_testing.h"

namespace trainwarden::rules {
namespace {

using Steps = std::vector<std::int64_t>;

// So many of 1000 items are right, the others wrong.
std::vector<float> right_scores(int right, float best = 1) {
  std::vector<float> scores(1000, 0.0F);
  std::fill(scores.begin(), scores.begin() + right, best);
  return scores;
}

// A look at every tenth step.
TestRun run_with_looks(const std::vector<int>& right) {
  TestRun run;
  for (std::size_t i = 0; i < right.size(); ++i) {
    const auto step = static_cast<std::int64_t>(10 * i);
    run.add({.step = step, .tensors = {kept("scores", right_scores(right[i]))}});
    run.add_steps(step + 1, step + 9);
  }
  return run;
}

const Verdict& first_reached(const Verdicts& verdicts) {
  for (const auto& [step, verdict] : verdicts) {
    if (verdict.outcome == Outcome::kFired) return verdict;
  }
  static const Verdict kNone;
  ADD_FAILURE() << "it has not fired";
  return kNone;
}

std::string creation_error(std::string_view spec_text) {
  const auto spec = parse_rule_spec(spec_text);
  return spec.ok() ? create_rule(*spec).status().to_string() : spec.status().to_string();
}

bool says(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(TargetReached, FiresWhenTheBoundPassesAndNotTheMeanAlone) {
  const auto verdicts = judge(run_with_looks({700, 810, 820, 860, 870}), "TargetReached:target=0.8");
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{30, 40}));
  EXPECT_EQ(steps_with(verdicts, Outcome::kOk), (Steps{0, 10, 20}));
  EXPECT_EQ(steps_with(verdicts, Outcome::kNotApplicable).size(), 45u);
  const Verdict& verdict = verdicts.at(30);
  ASSERT_EQ(verdict.evidence.size(), 4u);
  EXPECT_EQ(verdict.evidence[0].quantity, "bound");
  EXPECT_EQ(verdict.evidence[0].tensor, "scores");
  EXPECT_GE(verdict.evidence[0].value, 0.8);
  EXPECT_LT(verdict.evidence[0].value, 0.86);
  EXPECT_EQ(verdict.evidence[1].quantity, "mean");
  EXPECT_NEAR(verdict.evidence[1].value, 0.86, 1e-9);
  EXPECT_EQ(verdict.evidence[2].value, 1000);
  EXPECT_EQ(verdict.evidence[3].value, 4);
}

TEST(TargetReached, IsANoteThatSaysWhatTheMeanAloneWouldHave) {
  const auto verdicts = judge(run_with_looks({700, 810, 820, 860}), "TargetReached:target=0.8");
  const Verdict& verdict = first_reached(verdicts);
  EXPECT_EQ(verdict.severity, Severity::kInfo);
  EXPECT_EQ(verdict.confidence, 0);
  EXPECT_TRUE(says(verdict.message, "has reached its target 0.8 at step 30")) << verdict.message;
  EXPECT_TRUE(says(verdict.message, "its mean is 0.86 over 1000 items")) << verdict.message;
  EXPECT_TRUE(says(verdict.message, "with 95 % confidence not below")) << verdict.message;
  EXPECT_TRUE(says(verdict.message, "This was look 4. By the mean alone it would have been look 2, at step 10."))
      << verdict.message;
  EXPECT_TRUE(says(verdict.advice, "full set")) << verdict.advice;
}

TEST(TargetReached, LessOfAlphaIsLeftForEachLook) {
  EXPECT_EQ(steps_with(judge(run_with_looks({835}), "TargetReached:target=0.8"), Outcome::kFired), (Steps{0}));
  std::vector<int> late(30, 500);
  late.push_back(835);
  EXPECT_TRUE(steps_with(judge(run_with_looks(late), "TargetReached:target=0.8"), Outcome::kFired).empty());
  // Looks that cannot tell it take none.
  EXPECT_EQ(steps_with(judge(run_with_looks(late), "TargetReached:target=0.8,min_looks=31"), Outcome::kFired),
            (Steps{300}));
  EXPECT_EQ(steps_with(judge(run_with_looks(late), "TargetReached:target=0.8,start_step=300"), Outcome::kFired),
            (Steps{300}));
}

TEST(TargetReached, LooksThatArePlannedShareAlpha) {
  const auto verdicts = judge(run_with_looks({500, 870, 870, 870}), "TargetReached:target=0.8,looks=3");
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{10, 20}));
  EXPECT_EQ(verdicts.at(30).outcome, Outcome::kInsufficientData);
  EXPECT_TRUE(says(verdicts.at(30).message, "look 4 is past the 3 that were planned")) << verdicts.at(30).message;
}

TEST(TargetReached, PatienceAndMinLooksPutItOff) {
  const TestRun run = run_with_looks({900, 900, 700, 900, 900});
  EXPECT_EQ(steps_with(judge(run, "TargetReached:target=0.8"), Outcome::kFired), (Steps{0, 10, 30, 40}));
  EXPECT_EQ(steps_with(judge(run, "TargetReached:target=0.8,patience=2"), Outcome::kFired), (Steps{10, 40}));
  const auto verdicts = judge(run, "TargetReached:target=0.8,min_looks=4");
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{30, 40}));
  EXPECT_EQ(steps_with(verdicts, Outcome::kInsufficientData), (Steps{0, 10, 20}));
}

TEST(TargetReached, TheOtherWayAroundWithGoalMin) {
  const auto verdicts = judge(run_with_looks({300, 190, 140}), "TargetReached:target=0.2,goal=min");
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{20}));
  EXPECT_GT(verdicts.at(20).evidence[0].value, 0.14);
  EXPECT_LE(verdicts.at(20).evidence[0].value, 0.2);
  EXPECT_TRUE(says(verdicts.at(20).message, "not above")) << verdicts.at(20).message;
}

TEST(TargetReached, ScoresInPercentAreTheSame) {
  TestRun run;
  run.add({.step = 0, .tensors = {kept("f1", right_scores(860, 100))}});
  const auto verdicts = judge(run, "TargetReached:scores=f1,target=80,highest=100");
  EXPECT_NEAR(first_reached(verdicts).evidence[0].value,
              100 * judge(run_with_looks({860}), "TargetReached:target=0.8").at(0).evidence[0].value, 1e-6);
}

TEST(TargetReached, ASampleOfAFullSetIsWorthMore) {
  const double endless = judge(run_with_looks({860}), "TargetReached:target=0.8").at(0).evidence[0].value;
  const double half = judge(run_with_looks({860}), "TargetReached:target=0.8,population=2000").at(0).evidence[0].value;
  EXPECT_GT(half, endless + 0.005);
  const Verdict whole = judge(run_with_looks({801}), "TargetReached:target=0.8,population=1000").at(0);
  EXPECT_EQ(whole.outcome, Outcome::kFired);  // nothing is left to chance
  EXPECT_EQ(judge(run_with_looks({799}), "TargetReached:target=0.8,population=1000").at(0).outcome, Outcome::kOk);
  EXPECT_EQ(judge(run_with_looks({860}), "TargetReached:target=0.8,population=999").at(0).outcome, Outcome::kError);
}

TEST(TargetReached, AMeanAloneNeedsItsCountAndIsWorthLess) {
  TestRun run;
  run.add({.step = 0, .tensors = {scalar("scores", 0.86F)}});
  const Verdict without = judge(run, "TargetReached:target=0.8").at(0);
  EXPECT_EQ(without.outcome, Outcome::kInsufficientData);
  EXPECT_TRUE(says(without.message, "give count")) << without.message;
  EXPECT_EQ(judge(run, "TargetReached:target=0.8,count=1000").at(0).outcome, Outcome::kFired);
  EXPECT_EQ(judge(run, "TargetReached:target=0.8,count=100").at(0).outcome, Outcome::kOk);
}

TEST(TargetReached, StatisticsHaveTheCount) {
  TestRun run;
  run.add({.step = 0, .tensors = {reduced("scores", right_scores(860))}});
  const auto verdicts = judge(run, "TargetReached:target=0.8");
  EXPECT_EQ(first_reached(verdicts).evidence[2].value, 1000);
}

TEST(TargetReached, WhatIsNoScoreIsNotJudged) {
  TestRun run;
  std::vector<float> scores = right_scores(900);
  scores[5] = std::numeric_limits<float>::quiet_NaN();
  run.add({.step = 0, .tensors = {kept("scores", scores)}});
  run.add({.step = 1, .tensors = {strings("scores", {"0.9"})}});
  run.add({.step = 2, .tensors = {shape_only("scores", scores)}});
  run.add({.step = 3, .tensors = {kept("other", scores)}});
  run.add({.step = 4, .tensors = {kept("scores", right_scores(900, 90))}});
  const auto verdicts = judge(run, "TargetReached:target=0.8");
  EXPECT_EQ(steps_with(verdicts, Outcome::kInsufficientData), (Steps{0, 1, 2}));
  EXPECT_TRUE(says(verdicts.at(0).message, "not finite")) << verdicts.at(0).message;
  EXPECT_EQ(steps_with(verdicts, Outcome::kNotApplicable), (Steps{3}));
  EXPECT_EQ(verdicts.at(4).outcome, Outcome::kError);
  EXPECT_TRUE(says(verdicts.at(4).message, "expected scores from 0 to 1, found 0 to 90")) << verdicts.at(4).message;
}

TEST(TargetReached, OfSeveralWorkersTheFirstIsJudged) {
  TestRun run(2);
  run.add({.step = 0, .tensors = {kept("scores", right_scores(700))}, .worker = 0});
  run.add({.step = 0, .tensors = {kept("scores", right_scores(1000))}, .worker = 1});
  EXPECT_EQ(judge(run, "TargetReached:target=0.8").at(0).outcome, Outcome::kOk);
}

TEST(TargetReached, SaysWhatIsWrongWithItsParameters) {
  EXPECT_TRUE(says(creation_error("TargetReached"), "parameter target: expected a finite number, found \"\""));
  EXPECT_TRUE(says(creation_error("TargetReached:target=88"), "between lowest (0) and highest (1), found 88"));
  EXPECT_TRUE(says(creation_error("TargetReached:target=0.5,lowest=1,highest=0"), "lowest below highest"));
  EXPECT_TRUE(says(creation_error("TargetReached:target=0.5,alpha=0.9"), "from 1e-09 to 0.5"));
  EXPECT_TRUE(says(creation_error("TargetReached:target=0.5,goal=up"), "one of max, min"));
  EXPECT_TRUE(says(creation_error("TargetReached:target=0.5,scores="), "expected the name of a tensor"));
}

}  // namespace
}  // namespace trainwarden::rules
