#include <cmath>

#include <gtest/gtest.h>

#include "judge/rules/builtin/rule_testing.h"

namespace trainwarden::rules {
namespace {

constexpr const char* kAnyTensor = "AllZero:tensor_regex=.";

TestRun one_step(std::vector<TestTensor> tensors) {
  TestRun run;
  run.add({.step = 0, .tensors = std::move(tensors)});
  return run;
}

TEST(AllZero, EachFormIsJudged) {
  for (const auto& make : {kept, reduced}) {
    const Verdict verdict = judge(one_step({make("a", {0, -0.0F}, {}), make("b", {0, 1}, {})}), kAnyTensor).at(0);
    ASSERT_EQ(verdict.outcome, Outcome::kFired);
    ASSERT_EQ(verdict.evidence.size(), 1u);
    EXPECT_EQ(verdict.evidence[0].tensor, "a");
    EXPECT_EQ(verdict.evidence[0].value, 100);
  }
  EXPECT_EQ(judge(one_step({scalar("a", 0)}), kAnyTensor).at(0).outcome, Outcome::kFired);
  EXPECT_EQ(judge(one_step({kept("a", {1e-30F, 0})}), kAnyTensor).at(0).outcome, Outcome::kOk);
}

TEST(AllZero, TheThresholdItselfFires) {
  const TestRun run = one_step({reduced("a", {0, 0, 0, 1}), reduced("b", {0, 0, 0, 0})});
  EXPECT_EQ(judge(run, "AllZero:tensor_regex=a,threshold=75").at(0).outcome, Outcome::kFired);
  EXPECT_EQ(judge(run, "AllZero:tensor_regex=a,threshold=75.1").at(0).outcome, Outcome::kOk);
  const Verdict both = judge(run, "AllZero:tensor_regex=.,threshold=50").at(0);
  EXPECT_EQ(both.evidence.at(0).tensor, "b");
  EXPECT_EQ(both.evidence.at(1).value, 75);
}

TEST(AllZero, NaNIsNotZeroAndWhatIsEmptyIsNotJudged) {
  EXPECT_EQ(judge(one_step({kept("a", {0, NAN})}), kAnyTensor).at(0).outcome, Outcome::kOk);
  const Verdict verdict = judge(one_step({kept("a", {}), reduced("b", {})}), kAnyTensor).at(0);
  EXPECT_EQ(verdict.outcome, Outcome::kNotApplicable);
  EXPECT_NE(verdict.message.find("no elements"), std::string::npos) << verdict.message;
}

TEST(AllZero, SingleReductionsAreJudgedWhereTheyTell) {
  const auto judged = [](const SavedReduction& saved, std::string_view spec) {
    return judge(one_step({single_reductions("a", {saved})}), spec).at(0).outcome;
  };
  for (const SavedReduction zeros : {SavedReduction{Reduction::kL1, false, 0},
                                     {Reduction::kL2, false, 0},
                                     {Reduction::kMax, true, 0},
                                     {Reduction::kMean, true, 0},
                                     {Reduction::kSum, true, 0}}) {
    EXPECT_EQ(judged(zeros, kAnyTensor), Outcome::kFired);
    const SavedReduction some{zeros.reduction, zeros.abs, 2};
    EXPECT_EQ(judged(some, kAnyTensor), Outcome::kOk);
    EXPECT_EQ(judged(some, "AllZero:tensor_regex=.,threshold=50"), Outcome::kNotApplicable);
  }
  for (const Reduction reduction : {Reduction::kMean, Reduction::kMin, Reduction::kMax, Reduction::kStd}) {
    EXPECT_EQ(judged({reduction, false, 0}, kAnyTensor), Outcome::kNotApplicable);
  }
}

TEST(AllZero, ATensorMustBeChosen) {
  const auto rule = create_rule(*parse_rule_spec("AllZero"));
  EXPECT_NE(rule.status().message().find("no tensor is chosen"), std::string::npos) << rule.status().message();
  EXPECT_FALSE(create_rule(*parse_rule_spec("AllZero:tensor_regex=a,threshold=101")).ok());
}

}  // namespace
}  // namespace trainwarden::rules
