#include <cmath>

#include <gtest/gtest.h>

#include "judge/rules/builtin/rule_testing.h"

namespace trainwarden::rules {
namespace {

TestRun variance_step(std::vector<TestTensor> tensors) {
  TestRun run;
  run.add({.step = 0, .tensors = std::move(tensors)});
  return run;
}

TEST(TensorVariance, TheBoundsThemselvesAreFine) {
  const TestRun run = variance_step({kept("a", {-2, 2}), reduced("b", {-2, 2})});  // variance 4
  EXPECT_EQ(judge(run, "TensorVariance:tensor_regex=.,max_threshold=4,min_threshold=4").at(0).outcome, Outcome::kOk);
  const Verdict high = judge(run, "TensorVariance:tensor_regex=.,max_threshold=3.99").at(0);
  ASSERT_EQ(high.outcome, Outcome::kFired);
  ASSERT_EQ(high.evidence.size(), 2u);
  EXPECT_EQ(high.evidence[0].value, 4);
  EXPECT_EQ(high.evidence[0].threshold, 3.99);
  EXPECT_EQ(high.evidence[0].quantity, "variance");
  EXPECT_EQ(judge(run, "TensorVariance:tensor_regex=.,min_threshold=4.01").at(0).outcome, Outcome::kFired);
}

TEST(TensorVariance, TheHighestComesFirstThenTheLowest) {
  const TestRun run =
      variance_step({kept("a", {0, 0}), kept("b", {-1, 1}), kept("c", {-20, 20}), kept("d", {-30, 30})});
  const Verdict verdict = judge(run, "TensorVariance:tensor_regex=.,max_threshold=100,min_threshold=0.5").at(0);
  ASSERT_EQ(verdict.evidence.size(), 3u);
  EXPECT_EQ(verdict.evidence[0].tensor, "d");
  EXPECT_EQ(verdict.evidence[1].tensor, "c");
  EXPECT_EQ(verdict.evidence[2].tensor, "a");
  EXPECT_NE(verdict.message.find("3 of 4 tensors"), std::string::npos) << verdict.message;
}

TEST(TensorVariance, OnlyWhatIsChosenIsJudged) {
  const TestRun run = variance_step({kept("a", {-2, 2}, {"weights"}), kept("b", {-9, 9})});
  EXPECT_EQ(judge(run, "TensorVariance:collection_names=weights,max_threshold=5").at(0).outcome, Outcome::kOk);
  EXPECT_EQ(judge(run, "TensorVariance:collection_names=gradients,max_threshold=5").at(0).outcome,
            Outcome::kNotApplicable);
}

TEST(TensorVariance, SingleReductionsAreJudgedWhereTheyTell) {
  const TestRun run = variance_step({single_reductions("a", {{Reduction::kVariance, false, 9}})});
  EXPECT_EQ(judge(run, "TensorVariance:tensor_regex=a,max_threshold=8").at(0).outcome, Outcome::kFired);
  const TestRun other = variance_step({single_reductions("a", {{Reduction::kMean, false, 9}})});
  EXPECT_EQ(judge(other, "TensorVariance:tensor_regex=a,max_threshold=8").at(0).outcome, Outcome::kNotApplicable);
}

TEST(TensorVariance, WhatHasNoVarianceIsNotJudged) {
  const TestRun run = variance_step({kept("a", {1, NAN}), reduced("b", {1, INFINITY}), kept("c", {})});
  const Verdict verdict = judge(run, "TensorVariance:tensor_regex=.,max_threshold=0").at(0);
  EXPECT_EQ(verdict.outcome, Outcome::kNotApplicable);
  EXPECT_NE(verdict.message.find("holds a NaN"), std::string::npos) << verdict.message;
}

TEST(TensorVariance, SaysWhatIsMissing) {
  const auto fault = [](std::string_view text) { return create_rule(*parse_rule_spec(text)).status().message(); };
  EXPECT_NE(fault("TensorVariance:max_threshold=1").find("no tensor is chosen"), std::string::npos);
  EXPECT_NE(fault("TensorVariance:tensor_regex=a").find("give max_threshold"), std::string::npos);
  EXPECT_NE(fault("TensorVariance:tensor_regex=a,max_threshold=1,min_threshold=2").find("is above max_threshold"),
            std::string::npos);
  EXPECT_NE(fault("TensorVariance:tensor_regex=a,max_threshold=-1").find("at least 0"), std::string::npos);
  EXPECT_EQ(fault("TensorVariance:tensor_regex=a,max_threshold=None,min_threshold=1"), "");
}

}  // namespace
}  // namespace trainwarden::rules
