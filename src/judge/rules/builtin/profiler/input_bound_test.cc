#include "judge/rules/builtin/profiler/phase_testing.h"

namespace trainwarden::rules {
namespace {

Verdict judged(const PhaseSeconds& phases, std::int64_t count = 100, const char* spec = "InputBound") {
  PhasedRun run;
  run.step({{"forward", 2}});
  run.steps(count, phases);
  return judge(run.run(), spec).rbegin()->second;
}

TEST(InputBound, AHalfOfTheTimeIsWaiting) {
  const Verdict verdict = judged({{"data_wait", 0.05}, {"forward", 0.05}});
  ASSERT_EQ(verdict.outcome, Outcome::kFired);
  EXPECT_NEAR(evidence_value(verdict, "step_share"), 0.5, 1e-3);
  EXPECT_NEAR(evidence_value(verdict, "gain"), 2, 1e-2);
  EXPECT_NEAR(evidence_value(verdict, "input_seconds"), 0.05, 1e-4);
  EXPECT_NE(verdict.advice.find("num_workers"), std::string::npos);
}

TEST(InputBound, TheThreshold) {
  EXPECT_EQ(judged({{"data_wait", 0.0099}, {"forward", 0.0901}}).outcome, Outcome::kOk);
  EXPECT_EQ(judged({{"data_wait", 0.0101}, {"forward", 0.0899}}).outcome, Outcome::kFired);
}

TEST(InputBound, AShortWaitIsPutUpWith) {
  EXPECT_EQ(judged({{"data_wait", 0.001}, {"forward", 0.002}}, 3000).outcome, Outcome::kOk);
  EXPECT_EQ(judged({{"data_wait", 0.001}, {"forward", 0.002}}, 3000, "InputBound:min_seconds=0").outcome,
            Outcome::kFired);
}

TEST(InputBound, WorkersThatAreStartedAnew) {
  PhasedRun run;
  run.step({{"forward", 2}});
  for (int epoch = 0; epoch < 10; ++epoch) {
    run.step({{"data_start", 0.5}, {"data_wait", 0.1}, {"forward", 0.1}});
    run.steps(9, {{"forward", 0.1}});
  }
  const Verdict verdict = judge(run.run(), "InputBound").rbegin()->second;
  ASSERT_EQ(verdict.outcome, Outcome::kFired);
  EXPECT_NE(verdict.advice.find("persistent_workers"), std::string::npos);
  EXPECT_NEAR(evidence_value(verdict, "start_share"), 5.0 / 16, 1e-2);
}

TEST(InputBound, TooFewSteps) {
  EXPECT_EQ(judged({{"data_wait", 5}, {"forward", 5}}, 19).outcome, Outcome::kInsufficientData);
  EXPECT_EQ(judged({{"data_wait", 0.01}, {"forward", 0.01}}, 90).outcome, Outcome::kInsufficientData);
}

TEST(InputBound, NotApplicable) {
  EXPECT_EQ(judged({{"forward", 0.1}}).outcome, Outcome::kNotApplicable);
  TestRun silent;
  silent.add_steps(0, 5);
  EXPECT_EQ(judge(silent, "InputBound").at(5).outcome, Outcome::kNotApplicable);
}

}  // namespace
}  // namespace trainwarden::rules
