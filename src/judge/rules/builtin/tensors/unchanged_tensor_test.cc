#include <cmath>

#include <gtest/gtest.h>

#include "judge/rules/builtin/rule_testing.h"

namespace trainwarden::rules {
namespace {

using Steps = std::vector<std::int64_t>;

constexpr const char* kAnyOfThem = "UnchangedTensor:tensor_regex=.";

TEST(UnchangedTensor, TheOracleOf2019) {
  for (const auto& make : {kept, reduced, summarised}) {
    TestRun run;
    for (std::int64_t step = 0; step <= 2; ++step) run.add({.step = step, .tensors = {make("same", {1, 2}, {})}});
    run.add({.step = 5, .tensors = {make("other", {1, 2}, {})}});
    const auto verdicts = judge(run, kAnyOfThem);
    EXPECT_EQ(steps_with(verdicts, Outcome::kInsufficientData), (Steps{0, 1, 5}));
    EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{2}));
    EXPECT_EQ(verdicts.at(2).evidence.at(0).tensor, "same");
  }
}

TEST(UnchangedTensor, TheStepsNeedNotFollowEachOther) {
  TestRun run;
  for (const std::int64_t step : {0, 7, 30}) {
    run.add({.step = step, .tensors = {kept("same", {1}), kept("moves", {static_cast<float>(step)})}});
    run.add({.step = step + 1});
  }
  const auto verdicts = judge(run, kAnyOfThem);
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{30}));
  EXPECT_NE(verdicts.at(30).message.find("1 of 2 tensors"), std::string::npos) << verdicts.at(30).message;
}

TEST(UnchangedTensor, OneChangeWithinTheLastStepsIsEnough) {
  TestRun run;
  const std::vector<float> values = {1, 2, 2, 2, 2, 1};
  for (std::size_t i = 0; i < values.size(); ++i) {
    run.add({.step = static_cast<std::int64_t>(i), .tensors = {reduced("a", {values[i]})}});
  }
  EXPECT_EQ(steps_with(judge(run, kAnyOfThem), Outcome::kFired), (Steps{3, 4}));
  EXPECT_EQ(steps_with(judge(run, "UnchangedTensor:tensor_regex=.,num_steps=4"), Outcome::kFired), (Steps{4}));
  EXPECT_EQ(steps_with(judge(run, "UnchangedTensor:tensor_regex=.,num_steps=2"), Outcome::kFired), (Steps{2, 3, 4}));
}

TEST(UnchangedTensor, TheTolerancesAreOfTheNewestValue) {
  TestRun run;
  for (const float value : {100.0F, 100.5F, 101.0F}) {
    run.add({.step = static_cast<std::int64_t>((value - 100) * 2), .tensors = {kept("a", {value})}});
  }
  EXPECT_EQ(judge(run, "UnchangedTensor:tensor_regex=a,rtol=0.01").at(2).outcome, Outcome::kFired);
  EXPECT_EQ(judge(run, "UnchangedTensor:tensor_regex=a,rtol=0.009").at(2).outcome, Outcome::kOk);
  EXPECT_EQ(judge(run, "UnchangedTensor:tensor_regex=a,rtol=0,atol=1").at(2).outcome, Outcome::kFired);
  EXPECT_EQ(judge(run, "UnchangedTensor:tensor_regex=a,rtol=0,atol=1").at(2).evidence.at(0).value, 1);
}

TEST(UnchangedTensor, WithoutHashesItIsLessSure) {
  TestRun run;
  TestRun hashed;
  for (std::int64_t step = 0; step <= 2; ++step) {
    run.add({.step = step, .tensors = {reduced("a", {1, 2})}});
    hashed.add({.step = step, .tensors = {summarised("a", {1, 2})}});
  }
  EXPECT_EQ(judge(run, kAnyOfThem).at(2).confidence, 0.9);
  EXPECT_EQ(judge(hashed, kAnyOfThem).at(2).confidence, 1);
}

TEST(UnchangedTensor, NaNIsAChangeUnlessAskedOtherwise) {
  TestRun run;
  for (std::int64_t step = 0; step <= 2; ++step) run.add({.step = step, .tensors = {kept("a", {NAN})}});
  EXPECT_EQ(judge(run, kAnyOfThem).at(2).outcome, Outcome::kOk);
  EXPECT_EQ(judge(run, "UnchangedTensor:tensor_regex=.,equal_nan=True").at(2).outcome, Outcome::kFired);
}

TEST(UnchangedTensor, EachWorkerHasAHistoryOfItsOwn) {
  TestRun run(2);
  for (std::int64_t step = 0; step <= 2; ++step) {
    run.add({.step = step, .tensors = {kept("a", {1})}, .worker = 0});
    run.add({.step = step, .tensors = {kept("a", {static_cast<float>(step)})}, .worker = 1});
  }
  const Verdict verdict = judge(run, kAnyOfThem).at(2);
  ASSERT_EQ(verdict.evidence.size(), 1u);
  EXPECT_EQ(verdict.evidence[0].worker, "rank-00000");
}

TEST(UnchangedTensor, NotApplicableWithoutAFormThatTells) {
  TestRun run;
  run.add({.step = 0, .tensors = {single_reductions("a", {{Reduction::kMean, false, 1}}), strings("s", {"x"})}});
  EXPECT_EQ(judge(run, kAnyOfThem).at(0).outcome, Outcome::kNotApplicable);
}

TEST(UnchangedTensor, SaysWhatIsMissing) {
  EXPECT_NE(create_rule(*parse_rule_spec("UnchangedTensor")).status().message().find("no tensor is chosen"),
            std::string::npos);
  EXPECT_FALSE(create_rule(*parse_rule_spec("UnchangedTensor:tensor_regex=.,num_steps=1")).ok());
}

}  // namespace
}  // namespace trainwarden::rules
