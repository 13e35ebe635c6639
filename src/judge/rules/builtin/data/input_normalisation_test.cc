#include <cmath>

#include <gtest/gtest.h>

#include "judge/rules/builtin/rule_testing.h"

namespace trainwarden::rules {
namespace {

// Numbers with this mean and standard deviation.
TestTensor image(float mean, float deviation, const Shape& shape = {2, 1, 2}) {
  return shaped(reduced("Net_input_0", {mean - deviation, mean + deviation, mean - deviation, mean + deviation},
                        {"batch_inputs"}),
                shape);
}

// Five steps of training, then five of evaluation.
TestRun run_of(const TestTensor& train, const TestTensor& eval) {
  TestRun run;
  for (std::int64_t step = 0; step < 10; ++step) {
    const bool is_train = step < 5;
    run.add({.step = step,
             .tensors = {is_train ? train : eval},
             .mode = is_train ? Mode::kTrain : Mode::kEval,
             .mode_step = step % 5});
  }
  return run;
}

Verdict last_verdict(const TestTensor& train, const TestTensor& eval) {
  return judge(run_of(train, eval), "InputNormalisation").at(9);
}

TEST(InputNormalisation, EvaluationOnAnotherScale) {
  const auto verdicts = judge(run_of(image(0.1F, 1), image(1.3F, 1)), "InputNormalisation");
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (std::vector<std::int64_t>{9}));
  const Verdict& verdict = verdicts.at(9);
  EXPECT_EQ(verdict.severity, Severity::kWarning);
  EXPECT_EQ(verdict.evidence.at(0).tensor, "Net_input_0");
  EXPECT_EQ(verdict.evidence.at(0).quantity, "shift_of_mean_in_eval");
  EXPECT_NEAR(verdict.evidence.at(0).value, 1.2, 1e-5);
}

TEST(InputNormalisation, TheLimits) {
  EXPECT_EQ(last_verdict(image(0.1F, 1), image(1.0F, 1)).outcome, Outcome::kOk);
  EXPECT_EQ(last_verdict(image(0, 0.5F), image(0, 1.6F)).outcome, Outcome::kFired);
  EXPECT_EQ(last_verdict(image(0, 0.5F), image(0, 1.4F)).outcome, Outcome::kOk);
  EXPECT_EQ(last_verdict(image(0, 0.5F), image(0, 0.15F)).outcome, Outcome::kFired);
  EXPECT_EQ(last_verdict(image(0, 0.5F), image(0, 0.2F)).outcome, Outcome::kOk);
}

TEST(InputNormalisation, ARawScaleIsANote) {
  const auto verdicts = judge(run_of(image(128, 50), image(128, 50)), "InputNormalisation");
  EXPECT_EQ(verdicts.at(3).outcome, Outcome::kInsufficientData);
  ASSERT_EQ(verdicts.at(4).outcome, Outcome::kFired);
  EXPECT_EQ(verdicts.at(4).severity, Severity::kInfo);
  EXPECT_EQ(verdicts.at(4).evidence.at(0).quantity, "deviation");
  EXPECT_NEAR(verdicts.at(4).evidence.at(0).value, 50, 1e-6);
}

TEST(InputNormalisation, TokensAreNotJudged) {
  const TestTensor tokens = image(30'000, 1'000, {2, 2});
  EXPECT_EQ(last_verdict(tokens, tokens).outcome, Outcome::kNotApplicable);
  EXPECT_EQ(last_verdict(image(30'000.3F, 1'000, {2, 2}), tokens).outcome, Outcome::kNotApplicable);
  EXPECT_EQ(judge(run_of(image(30'000.3F, 1'000, {2, 2}), tokens), "InputNormalisation").at(4).outcome,
            Outcome::kFired);
}

TEST(InputNormalisation, NothingFinite) {
  const TestTensor broken = reduced("Net_input_0", {NAN, INFINITY}, {"batch_inputs"});
  EXPECT_EQ(last_verdict(broken, broken).outcome, Outcome::kNotApplicable);
}

}  // namespace
}  // namespace trainwarden::rules
