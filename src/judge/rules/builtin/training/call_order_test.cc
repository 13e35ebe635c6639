#include "judge/rules/builtin/training/signal_testing.h"

namespace trainwarden::rules {
namespace {

using Steps = std::vector<std::int64_t>;

// The same calls at each step; the first also says how many optimizers there are (0: it does not).
TestRun steps_of(const std::vector<std::string>& letters, int optimizer_count = 1,
                 const std::vector<TestTensor>& more = {}) {
  TestRun run;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    TestStep step{.step = static_cast<std::int64_t>(i), .tensors = more};
    step.tensors.push_back(calls(letters[i]));
    if (i == 0 && optimizer_count > 0) step.tensors.push_back(optimizers(optimizer_count));
    run.add(step);
  }
  return run;
}

TestRun always(const std::string& letters, std::size_t steps, int optimizer_count = 1,
               const std::vector<TestTensor>& more = {}) {
  return steps_of(std::vector<std::string>(steps, letters), optimizer_count, more);
}

const TestTensor kGradient = kept("gradient/w", {1, 2}, {"gradients"});

TEST(CallOrder, UsualStepsAreOk) {
  const auto verdicts = judge(always("zfbs", 5), "CallOrder");
  EXPECT_EQ(steps_with(verdicts, Outcome::kOk), (Steps{0, 1, 2, 3, 4}));
}

TEST(CallOrder, ZeroedBeforeTheStepFiresAtTheThirdTime) {
  const auto verdicts = judge(always("fbzs", 4), "CallOrder");
  EXPECT_EQ(steps_with(verdicts, Outcome::kOk), (Steps{0, 1}));
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{2, 3}));
  const Verdict& verdict = verdicts.at(2);
  EXPECT_EQ(verdict.severity, Severity::kError);
  ASSERT_EQ(verdict.evidence.size(), 1u);
  EXPECT_EQ(verdict.evidence[0].tensor, "trainwarden/calls");
  EXPECT_EQ(verdict.evidence[0].quantity, "steps_after_zero_grad");
  EXPECT_EQ(verdict.evidence[0].value, 3);
  EXPECT_EQ(verdict.evidence[0].threshold, 3);
  EXPECT_NE(verdict.message.find("forward, backward, zero_grad, step"), std::string::npos) << verdict.message;
}

TEST(CallOrder, MinStepsIsAParameter) {
  EXPECT_EQ(steps_with(judge(always("fbzs", 2), "CallOrder:min_steps=1"), Outcome::kFired), (Steps{0, 1}));
}

TEST(CallOrder, WithSeveralOrUnknownOptimizersZeroingIsNotJudged) {
  for (const int count : {0, 2}) {
    EXPECT_TRUE(steps_with(judge(always("fbzs", 6, count), "CallOrder"), Outcome::kFired).empty()) << count;
  }
}

TEST(CallOrder, GradientsThatTheProgramPutThereItselfAreFine) {
  EXPECT_TRUE(steps_with(judge(always("fbzs", 6, 1, {kGradient}), "CallOrder"), Outcome::kFired).empty());
  EXPECT_TRUE(steps_with(judge(always("zfs", 6, 1, {kGradient}), "CallOrder"), Outcome::kFired).empty());
  const TestTensor zero = reduced("gradient/w", {0, 0}, {"gradients"});
  EXPECT_EQ(steps_with(judge(always("fbzs", 3, 1, {zero}), "CallOrder"), Outcome::kFired), (Steps{2}));
}

TEST(CallOrder, ZeroingIsNotJudgedWhereGradientsAreNotCaptured) {
  TestRun run;
  for (std::int64_t step = 20; step < 26; ++step) run.add({.step = step, .tensors = {optimizers(1), calls("fbzs")}});
  EXPECT_TRUE(steps_with(judge(run, "CallOrder"), Outcome::kFired).empty());
}

TEST(CallOrder, StepWithoutBackward) {
  const auto verdicts = judge(steps_of({"zfbs", "zfs", "zfs", "zfs"}), "CallOrder");
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{3}));
  EXPECT_EQ(verdicts.at(3).evidence.at(0).quantity, "steps_without_backward");
}

TEST(CallOrder, TheForgottenBackwardPass) {
  const auto verdicts = judge(always("zfs", 3), "CallOrder");
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{2}));
  EXPECT_EQ(verdicts.at(2).evidence.at(0).quantity, "steps_without_any_backward");
}

TEST(CallOrder, OddStepsAreForgottenAfterTwenty) {
  std::vector<std::string> letters{"zfbs", "zfs", "zfs"};
  letters.insert(letters.end(), 19, "zfbs");
  letters.push_back("zfs");
  EXPECT_TRUE(steps_with(judge(steps_of(letters), "CallOrder"), Outcome::kFired).empty());
}

TEST(CallOrder, ClippedBeforeUnscaled) {
  const TestTensor scale = signal(signals::kAmpScale, 1024);
  const auto verdicts = judge(always("zfbcus", 3, 1, {scale}), "CallOrder");
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{2}));
  EXPECT_NE(verdicts.at(2).message.find("loss scale"), std::string::npos);
  EXPECT_TRUE(steps_with(judge(always("zfbcus", 3), "CallOrder"), Outcome::kFired).empty());
  const TestTensor one = signal(signals::kAmpScale, 1);
  EXPECT_TRUE(steps_with(judge(always("zfbcus", 3, 1, {one}), "CallOrder"), Outcome::kFired).empty());
}

TEST(CallOrder, ABackwardPassWithoutForwardIsANote) {
  std::vector<std::string> letters(20, "zfbs");
  letters.insert(letters.end(), 4, "zbs");
  const auto verdicts = judge(steps_of(letters), "CallOrder");
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{22, 23}));
  EXPECT_EQ(verdicts.at(22).severity, Severity::kInfo);
}

TEST(CallOrder, CriticsThatStepMoreOftenThanTheGenerator) {
  const std::vector<std::string> rounds{"zfb", "szfb", "szfb", "szfbszffbs"};
  std::vector<std::string> letters;
  for (int i = 0; i < 8; ++i) letters.insert(letters.end(), rounds.begin(), rounds.end());
  EXPECT_TRUE(steps_with(judge(steps_of(letters, 2), "CallOrder"), Outcome::kFired).empty());
}

TEST(CallOrder, StepsThatWereNotCapturedAreNoMistake) {
  TestRun run;
  run.add({.step = 0, .tensors = {optimizers(1), calls("zfbs")}});
  for (std::int64_t step = 2; step < 20; step += 2) run.add({.step = step, .tensors = {calls("zfs")}});
  EXPECT_TRUE(steps_with(judge(run, "CallOrder"), Outcome::kFired).empty());
}

TEST(CallOrder, EachWorkerByItself) {
  TestRun run(2);
  for (std::int64_t step = 0; step < 3; ++step) {
    run.add({.step = step, .tensors = {optimizers(1), calls("zfbs")}, .worker = 0});
    run.add({.step = step, .tensors = {optimizers(1), calls("fbzs")}, .worker = 1});
  }
  const Verdict verdict = judge(run, "CallOrder").at(2);
  ASSERT_EQ(verdict.outcome, Outcome::kFired);
  ASSERT_EQ(verdict.evidence.size(), 1u);
  EXPECT_EQ(verdict.evidence[0].worker, "rank-00001");
}

TEST(CallOrder, TruncatedAndEmptyStepsAreNotJudged) {
  EXPECT_EQ(judge(always(std::string(255, 'f') + "s", 1), "CallOrder").at(0).outcome, Outcome::kNotApplicable);
  EXPECT_EQ(judge(always("zf", 1), "CallOrder").at(0).outcome, Outcome::kNotApplicable);
  TestRun run;
  run.add_steps(0, 1);
  EXPECT_EQ(judge(run, "CallOrder").at(0).outcome, Outcome::kNotApplicable);
}

TEST(CallOrder, BadParameters) {
  const auto rule = create_rule(*parse_rule_spec("CallOrder:min_steps=21"));
  ASSERT_FALSE(rule.ok());
  EXPECT_NE(rule.status().message().find("a whole number from 1 to 20"), std::string::npos);
}

}  // namespace
}  // namespace trainwarden::rules
