// The rules that judge shares of phases alone.
#include "judge/rules/builtin/profiler/phase_testing.h"

namespace trainwarden::rules {
namespace {

Verdict last_of(PhasedRun& run, const char* spec) {
  return judge(run.run(), spec).rbegin()->second;
}

Verdict of_steps(const PhaseSeconds& phases, const char* spec, std::int64_t count = 100) {
  PhasedRun run;
  run.step({{"forward", 1}});
  run.steps(count, phases);
  return last_of(run, spec);
}

// `epochs` of ten train steps of 0.1 s, with `phase` at the begin of each but the first.
PhasedRun recurring(const std::string& phase, double seconds, int epochs) {
  PhasedRun run;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    run.step({{phase, epoch == 0 ? 0 : seconds}, {"forward", 0.05}, {"backward", 0.05}});
    run.steps(9, {{"forward", 0.05}, {"backward", 0.05}});
  }
  return run;
}

TEST(LongEvaluation, HalfOfTheTime) {
  PhasedRun run = recurring("evaluation", 1, 11);
  const Verdict verdict = last_of(run, "LongEvaluation");
  ASSERT_EQ(verdict.outcome, Outcome::kFired);
  EXPECT_NEAR(evidence_value(verdict, "evaluation_share"), 0.5, 0.03);
  EXPECT_NEAR(evidence_value(verdict, "evaluation_seconds"), 1, 1e-3);
  EXPECT_NEAR(evidence_value(verdict, "steps_apart"), 10, 1e-6);
  EXPECT_NEAR(evidence_value(verdict, "gain"), 1 / (1 - 0.475), 0.1);
  EXPECT_LT(evidence_value(verdict, "gain_min"), 1.4);
  EXPECT_GE(evidence_value(verdict, "gain_max"), 1.95);
}

TEST(LongEvaluation, TheCostIsThatOfWholeCycles) {
  PhasedRun run = recurring("evaluation", 1, 11);
  const auto verdicts = judge(run.run(), "LongEvaluation");
  const double at_its_end = evidence_value(verdicts.at(100), "evaluation_share");
  EXPECT_EQ(evidence_value(verdicts.at(109), "evaluation_share"), at_its_end);
}

TEST(LongEvaluation, OkInsufficientNotApplicable) {
  PhasedRun brief = recurring("evaluation", 0.2, 11);
  EXPECT_EQ(last_of(brief, "LongEvaluation").outcome, Outcome::kOk);
  PhasedRun short_ones = recurring("evaluation", 0.019, 110);
  EXPECT_EQ(last_of(short_ones, "LongEvaluation:threshold=0").outcome, Outcome::kOk);
  PhasedRun once = recurring("evaluation", 9, 2);
  EXPECT_EQ(last_of(once, "LongEvaluation").outcome, Outcome::kInsufficientData);
  EXPECT_EQ(of_steps({{"forward", 0.1}}, "LongEvaluation").outcome, Outcome::kOk);
  EXPECT_EQ(of_steps({{"forward", 0.1}}, "LongEvaluation", 5).outcome, Outcome::kInsufficientData);
  TestRun silent;
  silent.add_steps(0, 5);
  EXPECT_EQ(judge(silent, "LongEvaluation").at(5).outcome, Outcome::kNotApplicable);
}

TEST(LongEvaluation, TheWorkerForWhichTheOthersWait) {
  PhasedRun run(2);
  for (int epoch = 0; epoch < 11; ++epoch) {
    for (const int worker : {0, 1}) {
      run.step({{worker == 0 ? "evaluation" : "gradient_sync", epoch == 0 ? 0.0 : 1.0}, {"forward", 0.1}}, worker);
      run.steps(9, {{"forward", 0.1}}, worker);
    }
  }
  const Verdict verdict = last_of(run, "LongEvaluation");
  ASSERT_EQ(verdict.outcome, Outcome::kFired);
  EXPECT_NE(verdict.message.find("on rank-00000"), std::string::npos) << verdict.message;
}

TEST(CheckpointStalls, FiredAndOk) {
  PhasedRun run = recurring("checkpoint", 0.5, 11);
  const Verdict verdict = last_of(run, "CheckpointStalls");
  ASSERT_EQ(verdict.outcome, Outcome::kFired);
  EXPECT_NEAR(evidence_value(verdict, "checkpoint_share"), 1.0 / 3, 0.03);
  PhasedRun rare = recurring("checkpoint", 0.1, 11);
  EXPECT_EQ(last_of(rare, "CheckpointStalls").outcome, Outcome::kOk);
  EXPECT_EQ(of_steps({{"forward", 0.1}}, "CheckpointStalls").outcome, Outcome::kOk);
}

TEST(OptimizerHeavy, TheThreshold) {
  const Verdict verdict = of_steps({{"optimizer", 0.03}, {"zero_grad", 0.01}, {"forward", 0.06}}, "OptimizerHeavy");
  ASSERT_EQ(verdict.outcome, Outcome::kFired);
  EXPECT_NEAR(evidence_value(verdict, "optimizer_share"), 0.4, 1e-3);
  EXPECT_NEAR(evidence_value(verdict, "gain"), 1.25, 1e-2);
  EXPECT_EQ(evidence_value(verdict, "gain_min"), 1);
  EXPECT_EQ(of_steps({{"optimizer", 0.024}, {"forward", 0.076}}, "OptimizerHeavy").outcome, Outcome::kOk);
  EXPECT_EQ(of_steps({{"optimizer", 0.004}, {"forward", 0.002}}, "OptimizerHeavy", 2000).outcome, Outcome::kOk);
  EXPECT_EQ(of_steps({{"forward", 0.1}}, "OptimizerHeavy").outcome, Outcome::kNotApplicable);
  EXPECT_EQ(of_steps({{"optimizer", 0.1}}, "OptimizerHeavy", 10).outcome, Outcome::kInsufficientData);
}

PhasedRun exchanging(double first, double second) {
  PhasedRun run(2);
  for (int step = 0; step < 80; ++step) {
    for (const int worker : {0, 1}) {
      const double sync = worker == 0 ? first : second;
      run.step({{"gradient_sync", sync}, {"backward", 0.04}, {"forward", 0.06 - sync}}, worker);
    }
  }
  return run;
}

TEST(CommunicationNotOverlapped, TheWorkerThatIsInItLeast) {
  PhasedRun run = exchanging(0.05, 0.03);
  const Verdict verdict = last_of(run, "CommunicationNotOverlapped");
  ASSERT_EQ(verdict.outcome, Outcome::kFired);
  EXPECT_NEAR(evidence_value(verdict, "sync_share"), 0.3, 1e-3);
  EXPECT_NEAR(evidence_value(verdict, "gain"), 1 / (1 - 0.24), 1e-2);
  PhasedRun waiting = exchanging(0.05, 0.002);  // one waits for the other
  EXPECT_EQ(last_of(waiting, "CommunicationNotOverlapped").outcome, Outcome::kOk);
  PhasedRun alone;
  alone.steps(80, {{"gradient_sync", 0.05}, {"backward", 0.05}});
  EXPECT_EQ(last_of(alone, "CommunicationNotOverlapped").outcome, Outcome::kNotApplicable);
}

TEST(OverallFrameworkMetrics, SaysTheSharesAndNeverFires) {
  const Verdict verdict = of_steps({{"data_wait", 0.08}, {"forward", 0.02}}, "OverallFrameworkMetrics");
  EXPECT_EQ(verdict.outcome, Outcome::kOk);
  EXPECT_NEAR(evidence_value(verdict, "data_wait"), 0.8, 1e-3);
  EXPECT_NE(verdict.message.find("data_wait 80.0 %, forward 20.0 %"), std::string::npos) << verdict.message;
  EXPECT_EQ(of_steps({{"forward", 0.1}}, "OverallFrameworkMetrics", 5).outcome, Outcome::kInsufficientData);
}

}  // namespace
}  // namespace trainwarden::rules
