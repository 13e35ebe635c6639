#include <gtest/gtest.h>

#include "judge/rules/builtin/rule_testing.h"

namespace trainwarden::rules {
namespace {

Verdicts judge_gradients(const std::vector<float>& gradient, const std::string& kind = "AdamW",
                         std::string_view spec = "AdamEpsilon") {
  TestRun run;
  for (std::int64_t step = 0; step < 12; ++step) {
    TestStep one{.step = step,
                 .tensors = {reduced("gradient/a.weight", gradient, {"gradients"}),
                             reduced("gradient/b.weight", {1, 1}, {"gradients"}),
                             reduced("gradient/a.bias", {1e-12F}, {"gradients"})}};
    if (step == 0 && !kind.empty()) {
      one.tensors.push_back(strings(
          "trainwarden/optimizer",
          {R"({"optimizers": [{"kind": ")" + kind + R"(", "groups": [{"parameters": 3, "lr": 0.1, "eps": 1e-6}]}]})"},
          {"signals"}));
    }
    run.add(one);
  }
  return judge(run, spec);
}

TEST(AdamEpsilon, AGradientNoLargerThanEpsilon) {
  const auto verdicts = judge_gradients({9e-7F, -9e-7F});
  ASSERT_EQ(steps_with(verdicts, Outcome::kFired).front(), 9);
  ASSERT_EQ(verdicts.at(9).evidence.size(), 1u);
  EXPECT_EQ(verdicts.at(9).evidence[0].tensor, "gradient/a.weight");
  EXPECT_EQ(verdicts.at(9).evidence[0].quantity, "rms");
  EXPECT_NEAR(verdicts.at(9).evidence[0].value, 9e-7, 1e-12);
  EXPECT_EQ(verdicts.at(9).evidence[0].threshold, 1e-6);
}

TEST(AdamEpsilon, WhatDoesNotFire) {
  EXPECT_EQ(steps_with(judge_gradients({1.1e-6F, -1.1e-6F}), Outcome::kOk).size(), 12u);
  EXPECT_EQ(steps_with(judge_gradients({0, 0}), Outcome::kOk).size(), 12u);
  EXPECT_EQ(steps_with(judge_gradients({0.0F / 0.0F}), Outcome::kOk).size(), 12u);
}

TEST(AdamEpsilon, EpsilonOfTheOptimizerOrTheUser) {
  EXPECT_EQ(steps_with(judge_gradients({1e-9F}, "SGD"), Outcome::kNotApplicable).size(), 12u);
  EXPECT_EQ(steps_with(judge_gradients({1e-9F}, ""), Outcome::kNotApplicable).size(), 12u);
  EXPECT_FALSE(steps_with(judge_gradients({1e-9F}, "", "AdamEpsilon:epsilon=1e-8"), Outcome::kFired).empty());
}

TEST(AdamEpsilon, BadParameters) {
  for (const char* spec : {"AdamEpsilon:epsilon=-1", "AdamEpsilon:checks=0"}) {
    EXPECT_EQ(create_rule(*parse_rule_spec(spec)).status().code(), Code::kInvalidArgument) << spec;
  }
}

}  // namespace
}  // namespace trainwarden::rules
