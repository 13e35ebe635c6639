// SlowStart and MaxInitializationTime.
#include "judge/rules/builtin/profiler/phase_testing.h"
#include "judge/rules/builtin/training/signal_testing.h"

namespace trainwarden::rules {
namespace {

std::vector<TestTensor> start_of(double imports, double building, double first_step) {
  return {signal("trainwarden/start_seconds", imports + building + first_step),
          signal("trainwarden/start/imports_seconds", imports), signal("trainwarden/start/building_seconds", building),
          signal("trainwarden/start/first_step_seconds", first_step)};
}

PhasedRun started(double imports, double building, double first_step, std::int64_t steps) {
  PhasedRun run;
  run.step({{"forward", first_step}}, 0, start_of(imports, building, first_step));
  run.steps(steps, {{"forward", 0.1}});
  return run;
}

TEST(SlowStart, WhileTheTrainingGoesOnNobodyKnows) {
  PhasedRun run = started(5, 30, 0.1, 200);
  EXPECT_EQ(judge(run.run(), "SlowStart").rbegin()->second.outcome, Outcome::kInsufficientData);
}

TEST(SlowStart, MuchOfTheRun) {
  PhasedRun run = started(5, 30, 0.1, 200);
  run.run().end();
  const auto verdicts = judge(run.run(), "SlowStart");
  EXPECT_EQ(verdicts.at(199).outcome, Outcome::kInsufficientData);
  const Verdict& verdict = verdicts.at(200);
  ASSERT_EQ(verdict.outcome, Outcome::kFired);
  EXPECT_NEAR(evidence_value(verdict, "start_share"), 30 / 55.1, 1e-2);
  EXPECT_NEAR(evidence_value(verdict, "gain"), 1 / (1 - 0.9 * 30 / 55.1), 2e-2);
  EXPECT_NE(verdict.message.find("building 30"), std::string::npos) << verdict.message;
}

TEST(SlowStart, TheLastSamplesComeBehindTheLastStep) {
  PhasedRun run = started(5, 30, 0.1, 200);
  const auto rule = create_rule({"SlowStart", {}});
  ASSERT_TRUE(rule.ok());
  const auto live = run.run().open();
  for (const std::int64_t step : live->steps()) (*rule)->evaluate(TrialWindow(*live, step));
  EXPECT_EQ((*rule)->evaluate_time({*live, 0, 1, 200}).outcome, Outcome::kInsufficientData);
  run.run().end();
  const auto ended = run.run().open();
  EXPECT_EQ((*rule)->evaluate_time({*ended, 0, 1, 100}).outcome, Outcome::kInsufficientData);
  EXPECT_EQ((*rule)->evaluate_time({*ended, 0, 1, 200}).outcome, Outcome::kFired);
}

TEST(SlowStart, OkWhereItIsShortOrTheTrainingLong) {
  PhasedRun long_one = started(5, 30, 0.1, 2000);
  long_one.run().end();
  EXPECT_EQ(judge(long_one.run(), "SlowStart").rbegin()->second.outcome, Outcome::kOk);
  PhasedRun short_start = started(14, 4, 1, 20);
  short_start.run().end();
  EXPECT_EQ(judge(short_start.run(), "SlowStart").rbegin()->second.outcome, Outcome::kOk);
}

TEST(SlowStart, WithoutTheSignalsOnlyTheFirstStepIsKnown) {
  PhasedRun run;
  run.step({{"forward", 20}});
  run.steps(100, {{"forward", 0.1}});
  run.run().end();
  const Verdict verdict = judge(run.run(), "SlowStart").rbegin()->second;
  ASSERT_EQ(verdict.outcome, Outcome::kFired);
  EXPECT_NEAR(evidence_value(verdict, "first_step_seconds"), 20, 1e-3);
}

TEST(SlowStart, InsufficientAndNotApplicable) {
  PhasedRun run = started(5, 30, 0.1, 0);
  EXPECT_EQ(judge(run.run(), "SlowStart").at(0).outcome, Outcome::kInsufficientData);
  TestRun silent;
  silent.add_steps(0, 3);
  EXPECT_EQ(judge(silent, "SlowStart").at(3).outcome, Outcome::kNotApplicable);
}

TEST(MaxInitializationTime, TheFirstStepCameLate) {
  PhasedRun late = started(5, 1300, 1, 3);
  const auto verdicts = judge(late.run(), "MaxInitializationTime");
  ASSERT_EQ(verdicts.at(0).outcome, Outcome::kFired);
  EXPECT_NEAR(evidence_value(verdicts.at(0), "start_seconds"), 1306, 1);
  EXPECT_EQ(verdicts.at(1).outcome, Outcome::kOk);
  PhasedRun early = started(5, 1000, 1, 3);
  EXPECT_EQ(judge(early.run(), "MaxInitializationTime").at(0).outcome, Outcome::kOk);
  EXPECT_EQ(judge(early.run(), "MaxInitializationTime:threshold=10").at(0).outcome, Outcome::kFired);
}

TEST(MaxInitializationTime, NoStepHasCome) {
  TestRun run;
  const auto trial = run.open();
  const auto rule = create_rule({"MaxInitializationTime", {}});
  ASSERT_TRUE(rule.ok());
  constexpr std::int64_t kMinuteNs = 60'000'000'000;
  TimeWindow window{*trial};
  window.last_step_unix_ns = 1000 * kMinuteNs;
  window.to_unix_ns = 1019 * kMinuteNs;
  EXPECT_EQ((*rule)->evaluate_time(window).outcome, Outcome::kOk);
  window.to_unix_ns = 1021 * kMinuteNs;
  EXPECT_EQ((*rule)->evaluate_time(window).outcome, Outcome::kFired);
  window.last_step = 0;
  EXPECT_EQ((*rule)->evaluate_time(window).outcome, Outcome::kOk);
}

}  // namespace
}  // namespace trainwarden::rules
