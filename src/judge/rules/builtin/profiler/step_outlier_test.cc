#include "judge/rules/builtin/profiler/outlier_watch.h"
#include "judge/rules/builtin/profiler/phase_testing.h"
#include "judge/rules/builtin/training/signal_testing.h"

namespace trainwarden::rules {
namespace {

TEST(OutlierWatch, TheLimitIsNotRaisedByTheOutliers) {
  OutlierWatch watch({5, 2, 0.02});
  for (int i = 0; i < 200; ++i) watch.add(i, i % 10 == 9 ? 5 : 0.1 + 0.001 * (i % 3));
  EXPECT_NEAR(watch.median(), 0.101, 1e-9);
  EXPECT_EQ(watch.outliers(), 19u);  // the first came before anything was known
  EXPECT_NEAR(watch.excess(), 19 * 4.899, 1e-2);
  EXPECT_EQ(watch.period(), 10);
}

TEST(OutlierWatch, NoRhythm) {
  OutlierWatch watch({5, 2, 0.02});
  int number = 0;
  for (const int distance : {25, 3, 14, 8, 31, 5, 17}) {
    for (int i = 0; i < distance; ++i) watch.add(number++, 0.1);
    watch.add(number++, 2);
  }
  EXPECT_EQ(watch.period(), 0);
  EXPECT_EQ(watch.outliers(), 7u);
}

TEST(OutlierWatch, TheLeastExcess) {
  OutlierWatch watch({5, 2, 0.02});
  for (int i = 0; i < 100; ++i) watch.add(i, i % 10 == 9 ? 0.015 : 0.001);
  EXPECT_EQ(watch.outliers(), 0u);
}

PhasedRun with_long_steps(const char* phase, double seconds, int apart, int steps = 300) {
  PhasedRun run;
  for (int i = 0; i < steps; ++i) {
    PhaseSeconds phases = {{"forward", 0.05}, {"backward", 0.05}};
    if (i % apart == apart - 1) phases[phase] += seconds;
    run.step(phases);
  }
  return run;
}

TEST(StepOutlier, ALongStepNowAndThen) {
  PhasedRun run = with_long_steps("rest", 0.5, 20);
  const Verdict verdict = judge(run.run(), "StepOutlier").rbegin()->second;
  ASSERT_EQ(verdict.outcome, Outcome::kFired);
  EXPECT_NEAR(evidence_value(verdict, "outlier_share"), 0.2, 0.02);
  EXPECT_NEAR(evidence_value(verdict, "median_seconds"), 0.1, 1e-3);
  EXPECT_EQ(evidence_value(verdict, "period"), 20);
  EXPECT_NE(verdict.message.find("mostly in the phase \"rest\""), std::string::npos) << verdict.message;
  EXPECT_NE(verdict.message.find("every 20 steps"), std::string::npos) << verdict.message;
}

TEST(StepOutlier, EvaluationAndCheckpointsHaveRulesOfTheirOwn) {
  for (const char* const phase : {"evaluation", "checkpoint", "data_start"}) {
    PhasedRun run = with_long_steps(phase, 0.5, 20);
    EXPECT_EQ(judge(run.run(), "StepOutlier").rbegin()->second.outcome, Outcome::kOk) << phase;
  }
}

// What a budget of capture leaves of a training: its first steps, then one of 64.
PhasedRun with_long_steps_unseen(const char* phase, std::int64_t distance) {
  PhasedRun run;
  run.write_step_times();
  for (std::int64_t i = 0; i < 1300; ++i) {
    PhaseSeconds phases = {{"forward", 0.01}, {"backward", 0.01}};
    if (i % distance == distance - 1) phases[phase] += 0.25;
    run.step(phases, 0, {}, i < 10 || i % 64 == 0);
  }
  return run;
}

TEST(StepOutlier, LongStepsThatAreNeverWritten) {
  PhasedRun run = with_long_steps_unseen("rest", 20);
  const Verdict verdict = judge(run.run(), "StepOutlier").rbegin()->second;
  ASSERT_EQ(verdict.outcome, Outcome::kFired);
  EXPECT_EQ(evidence_value(verdict, "outliers"), 63);  // the first came before anything was known
  EXPECT_NEAR(evidence_value(verdict, "outlier_share"), 0.25 / (0.25 + 20 * 0.02), 0.02);
  EXPECT_EQ(evidence_value(verdict, "period"), 20);
  EXPECT_EQ(evidence_value(verdict, "outlier_step"), 1139);  // the eighth of the newest
  EXPECT_NE(verdict.message.find("63 of 1260 train steps"), std::string::npos) << verdict.message;
  EXPECT_EQ(verdict.message.find("mostly in"), std::string::npos) << "no such step was divided: " << verdict.message;
  EXPECT_NE(verdict.advice.find("trainwarden profile RUN"), std::string::npos) << verdict.advice;
}

TEST(StepOutlier, WhatIsSetApartIsAlsoInStepsThatAreNeverWritten) {
  for (const char* const phase : {"evaluation", "checkpoint", "data_start"}) {
    PhasedRun run = with_long_steps_unseen(phase, 20);
    EXPECT_EQ(judge(run.run(), "StepOutlier").rbegin()->second.outcome, Outcome::kOk) << phase;
  }
}

TEST(StepOutlier, FewOrCheapOnesArePutUpWith) {
  PhasedRun few = with_long_steps("rest", 5, 100);
  EXPECT_EQ(judge(few.run(), "StepOutlier").rbegin()->second.outcome, Outcome::kOk);
  PhasedRun cheap = with_long_steps("rest", 0.2, 20);
  EXPECT_EQ(judge(cheap.run(), "StepOutlier:n_outliers=2").rbegin()->second.outcome, Outcome::kOk);
}

TEST(StepOutlier, EachWorkerAndModeByItself) {
  PhasedRun run(2);
  for (int i = 0; i < 300; ++i) {
    run.step({{"forward", 0.1}}, 0);
    run.step({{"forward", i % 20 == 19 ? 0.6 : 0.1}}, 1);
  }
  const Verdict verdict = judge(run.run(), "StepOutlier").rbegin()->second;
  ASSERT_EQ(verdict.outcome, Outcome::kFired);
  EXPECT_EQ(verdict.evidence.at(4).worker, "rank-00001");
}

TEST(StepOutlier, StepsOfOtherModesByTheirSignal) {
  TestRun run;
  for (std::int64_t step = 0; step < 300; ++step) {
    run.add({.step = step,
             .tensors = {signal(signals::kStepSeconds, step % 20 == 19 ? 0.6 : 0.1)},
             .mode = Mode::kEval,
             .mode_step = step});
  }
  const Verdict verdict = judge(run, "StepOutlier").rbegin()->second;
  ASSERT_EQ(verdict.outcome, Outcome::kFired);
  EXPECT_NE(verdict.message.find("eval steps"), std::string::npos) << verdict.message;
}

TEST(StepOutlier, InsufficientAndNotApplicable) {
  PhasedRun run = with_long_steps("rest", 0.5, 5, 15);
  EXPECT_EQ(judge(run.run(), "StepOutlier").rbegin()->second.outcome, Outcome::kInsufficientData);
  TestRun silent;
  silent.add_steps(0, 3);
  EXPECT_EQ(judge(silent, "StepOutlier").at(3).outcome, Outcome::kNotApplicable);
}

}  // namespace
}  // namespace trainwarden::rules
