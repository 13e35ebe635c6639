#include "judge/rules/builtin/training/silence_testing.h"

namespace trainwarden::rules {
namespace {

TEST(StalledTrainingRule, FiresAfterTheDocumentedHalfHour) {
  TestRun run;
  run.add({.step = 7});  // the clock goes on by a millisecond
  SilentRun silent(run, "StalledTrainingRule");
  EXPECT_EQ(silent.last_outcome(), Outcome::kOk);
  EXPECT_FALSE(silent.after(1799.9));
  const auto verdict = silent.after(1800);
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->outcome, Outcome::kFired);
  EXPECT_EQ(verdict->severity, Severity::kError);
  EXPECT_EQ(verdict->evidence.at(0).threshold, 1800);
  EXPECT_NE(verdict->message.find("since step 7"), std::string::npos) << verdict->message;
}

TEST(StalledTrainingRule, TheThresholdItselfIsTooLong) {
  TestRun run;
  run.add({.step = 0});
  SilentRun silent(run, "StalledTrainingRule:threshold=0.001");
  EXPECT_TRUE(silent.after(0));
}

TEST(StalledTrainingRule, BeforeTheFirstStepItCountsFromTheStartOfTheRun) {
  TestRun run;
  run.start(0);
  SilentRun silent(run, "StalledTrainingRule:threshold=10");
  EXPECT_FALSE(silent.after(9));
  const auto verdict = silent.after(11);
  ASSERT_TRUE(verdict);
  EXPECT_NE(verdict->message.find("since the run was created"), std::string::npos) << verdict->message;
}

TEST(StalledTrainingRule, AGapOfARecordedRunIsANote) {
  TestRun run;
  run.add_steps(0, 2);
  run.clock().advance_ns(2000 * kSecondNs);
  run.add_steps(3, 4);
  const auto verdicts = judge(run, "StalledTrainingRule");
  EXPECT_EQ(steps_with(verdicts, Outcome::kOk), (std::vector<std::int64_t>{0, 1, 2, 4}));
  EXPECT_EQ(verdicts.at(3).outcome, Outcome::kFired);
  EXPECT_EQ(verdicts.at(3).severity, Severity::kInfo);
}

TEST(StalledTrainingRule, TakesTheDocumentedParameters) {
  const auto spec = parse_rule_spec("StalledTrainingRule:stop_training_on_fire=True,training_job_name_prefix=job");
  ASSERT_TRUE(spec.ok()) << spec.status().to_string();
  EXPECT_TRUE(create_rule(*spec).ok());
  const auto bad = create_rule(*parse_rule_spec("StalledTrainingRule:stop_training_on_fire=perhaps"));
  ASSERT_FALSE(bad.ok());
  EXPECT_NE(bad.status().message().find("True or False"), std::string::npos);
}

}  // namespace
}  // namespace trainwarden::rules
