#include <cmath>

#include "judge/rules/builtin/training/signal_testing.h"

namespace trainwarden::rules {
namespace {

using Steps = std::vector<std::int64_t>;

struct Said {
  double stale;
  std::string calls;
};

TestRun said_run(const std::vector<Said>& steps) {
  TestRun run;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    run.add({.step = static_cast<std::int64_t>(i),
             .tensors = {signal(signals::kStaleGradients, steps[i].stale), calls(steps[i].calls)}});
  }
  return run;
}

TEST(MissingZeroGrad, FiresAtTheThirdStepInARow) {
  const auto verdicts = judge(said_run({{0, "fbs"}, {4, "fbs"}, {4, "fbs"}, {4, "fbs"}}), "MissingZeroGrad");
  EXPECT_EQ(steps_with(verdicts, Outcome::kOk), (Steps{0, 1, 2}));
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{3}));
  const Verdict& verdict = verdicts.at(3);
  EXPECT_EQ(verdict.severity, Severity::kError);
  EXPECT_EQ(verdict.evidence.at(0).tensor, "trainwarden/stale_gradients");
  EXPECT_EQ(verdict.evidence.at(0).value, 4);
  EXPECT_NE(verdict.message.find("at least 4"), std::string::npos) << verdict.message;
}

TEST(MissingZeroGrad, AccumulationIsFine) {
  const Said cycle{0, "zfbfbfbs"};
  EXPECT_EQ(steps_with(judge(said_run({cycle, cycle, cycle, cycle}), "MissingZeroGrad"), Outcome::kOk),
            (Steps{0, 1, 2, 3}));
  const Said zeroed_after{0, "fbfbs"};  // its zero_grad lies in the next step, before the backward pass
  EXPECT_TRUE(
      steps_with(judge(said_run({zeroed_after, {0, "zfbfbs"}, {0, "zfbfbs"}}), "MissingZeroGrad"), Outcome::kFired)
          .empty());
}

TEST(MissingZeroGrad, AGanWhoseGeneratorIsZeroedLaterIsFine) {
  const Said step{2, "zfbszfbs"};
  EXPECT_TRUE(steps_with(judge(said_run({step, step, step, step, step}), "MissingZeroGrad"), Outcome::kFired).empty());
}

TEST(MissingZeroGrad, AccumulationThatIsNeverZeroedFires) {
  const Said step{2, "fbfbs"};
  EXPECT_EQ(steps_with(judge(said_run({step, step, step}), "MissingZeroGrad"), Outcome::kFired), (Steps{2}));
}

TEST(MissingZeroGrad, NotInARowIsFine) {
  EXPECT_TRUE(
      steps_with(judge(said_run({{2, "fbs"}, {2, "fbs"}, {0, "fbs"}, {2, "fbs"}, {2, "fbs"}}), "MissingZeroGrad"),
                 Outcome::kFired)
          .empty());
}

TEST(MissingZeroGrad, StepsIsAParameter) {
  EXPECT_EQ(steps_with(judge(said_run({{2, "fbs"}}), "MissingZeroGrad:steps=1"), Outcome::kFired), (Steps{0}));
}

TEST(MissingZeroGrad, WhatIsNotKnownIsNotJudged) {
  EXPECT_TRUE(
      steps_with(judge(said_run({{NAN, "fbs"}, {NAN, "fbs"}, {NAN, "fbs"}}), "MissingZeroGrad"), Outcome::kFired)
          .empty());
  const Said truncated{2, std::string(256, 'f')};
  EXPECT_TRUE(
      steps_with(judge(said_run({truncated, truncated, truncated}), "MissingZeroGrad"), Outcome::kFired).empty());
  TestRun run;
  run.add({.step = 0, .tensors = {signal(signals::kStaleGradients, 3)}});
  run.add({.step = 1, .tensors = {calls("fbs")}});
  const auto verdicts = judge(run, "MissingZeroGrad:steps=1");
  EXPECT_EQ(steps_with(verdicts, Outcome::kNotApplicable), (Steps{0, 1}));
}

TEST(MissingZeroGrad, TheOptimizersOfOneStepCountOnce) {
  TestRun run;
  for (std::int64_t step = 0; step < 3; ++step) {
    run.add({.step = step,
             .tensors = {signal(signals::kStaleGradients, 0), signal("trainwarden/stale_gradients#1", 2),
                         signal("trainwarden/stale_gradients#2", 1), calls("fbsss")}});
  }
  const auto verdicts = judge(run, "MissingZeroGrad");
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{2}));
  EXPECT_EQ(verdicts.at(2).evidence.at(0).tensor, "trainwarden/stale_gradients#1");
}

TEST(MissingZeroGrad, EachWorkerByItself) {
  TestRun run(2);
  for (std::int64_t step = 0; step < 3; ++step) {
    run.add({.step = step, .tensors = {signal(signals::kStaleGradients, 0), calls("zfbs")}, .worker = 0});
    run.add({.step = step, .tensors = {signal(signals::kStaleGradients, 2), calls("fbs")}, .worker = 1});
  }
  const Verdict verdict = judge(run, "MissingZeroGrad").at(2);
  ASSERT_EQ(verdict.outcome, Outcome::kFired);
  EXPECT_EQ(verdict.evidence.at(0).worker, "rank-00001");
}

}  // namespace
}  // namespace trainwarden::rules
