#include <cmath>

#include <gtest/gtest.h>

#include "judge/rules/builtin/rule_testing.h"

namespace trainwarden::rules {
namespace {

// [64, units]: `saturated` units are at `far`, the others at 0.5.
TestTensor inputs(const TestTensor& like, int units, int saturated, float far) {
  TestTensor tensor = like;
  tensor.values.clear();
  for (int sample = 0; sample < 64; ++sample) {
    for (int unit = 0; unit < units; ++unit) tensor.values.push_back(unit < saturated ? far : 0.5F);
  }
  return shaped(std::move(tensor), {64, units});
}

Verdict judged(const TestTensor& tensor, std::string_view spec = "SaturatedActivation:patience=1") {
  TestRun run;
  run.add({.step = 0, .tensors = {tensor}});
  return judge(run, spec).at(0);
}

TEST(SaturatedActivation, TheThresholdsOfEachKind) {
  const TestTensor tanh = kept("a", {}, {"tanh_inputs"});
  const TestTensor sigmoid = kept("b", {}, {"sigmoid_inputs"});
  EXPECT_EQ(judged(inputs(tanh, 10, 10, 9.5F)).outcome, Outcome::kFired);
  EXPECT_EQ(judged(inputs(tanh, 10, 10, 9.4F)).outcome, Outcome::kOk);
  EXPECT_EQ(judged(inputs(tanh, 10, 10, -9.5F)).outcome, Outcome::kFired);
  EXPECT_EQ(judged(inputs(tanh, 10, 10, -9.4F)).outcome, Outcome::kOk);
  EXPECT_EQ(judged(inputs(sigmoid, 10, 10, 17)).outcome, Outcome::kFired);
  EXPECT_EQ(judged(inputs(sigmoid, 10, 10, 16.9F)).outcome, Outcome::kOk);
  EXPECT_EQ(judged(inputs(sigmoid, 10, 10, -23)).outcome, Outcome::kFired);
  EXPECT_EQ(judged(inputs(sigmoid, 10, 10, -22.9F)).outcome, Outcome::kOk);
}

TEST(SaturatedActivation, MoreThanTheThresholdOfALayer) {
  const TestTensor tanh = kept("act_tanh_input_0", {});
  EXPECT_EQ(judged(inputs(tanh, 10, 5, 20)).outcome, Outcome::kOk);
  const Verdict verdict = judged(inputs(tanh, 10, 6, 20));
  ASSERT_EQ(verdict.outcome, Outcome::kFired);
  EXPECT_EQ(verdict.evidence.at(0).quantity, "saturated_percent");
  EXPECT_EQ(verdict.evidence.at(0).value, 60);
  EXPECT_EQ(verdict.evidence.at(0).tensor, "act_tanh_input_0");
}

TEST(SaturatedActivation, EachFormAsFarAsItTells) {
  const std::vector<std::string> tanh = {"tanh_inputs"};
  EXPECT_EQ(judged(inputs(reduced("a", {}, tanh), 10, 10, 20)).outcome, Outcome::kFired);
  EXPECT_EQ(judged(inputs(reduced("a", {}, tanh), 10, 10, 5)).outcome, Outcome::kOk);
  // The extremes do not say; four of ten units far out: the histogram does.
  EXPECT_EQ(judged(inputs(reduced("a", {}, tanh), 10, 4, 20)).outcome, Outcome::kInsufficientData);
  EXPECT_EQ(judged(inputs(summarised("a", {}, tanh), 10, 4, 20)).outcome, Outcome::kOk);
  // Nine of ten cannot be told from nine tenths of each unit's samples.
  EXPECT_EQ(judged(inputs(summarised("a", {}, tanh), 10, 9, 20)).outcome, Outcome::kInsufficientData);
  EXPECT_EQ(judged(inputs(kept("a", {}, tanh), 10, 9, 20)).outcome, Outcome::kFired);
}

TEST(SaturatedActivation, NamesTellTheFunctionWhereKindsDoNot) {
  EXPECT_EQ(judged(inputs(kept("Sigmoid_sigmoid_input_0", {}), 10, 10, 10)).outcome, Outcome::kOk);
  EXPECT_EQ(judged(inputs(kept("Tanh_tanh_input_0", {}), 10, 10, 10)).outcome, Outcome::kFired);
  const std::string mine = "SaturatedActivation:patience=1,collection_names=mine,tensor_regex=";
  EXPECT_EQ(judged(inputs(kept("my_TANH", {}, {"mine"}), 10, 10, 10), mine).outcome, Outcome::kFired);
  const Verdict neither = judged(inputs(kept("act", {}, {"mine"}), 10, 10, 10), mine);
  EXPECT_EQ(neither.outcome, Outcome::kNotApplicable);
  EXPECT_NE(neither.message.find("in its name"), std::string::npos) << neither.message;
}

TEST(SaturatedActivation, WhatIsNotFiniteOrAbsentIsNotJudged) {
  TestTensor tensor = inputs(kept("a", {}, {"tanh_inputs"}), 10, 10, 20);
  tensor.values[0] = INFINITY;
  EXPECT_EQ(judged(tensor).outcome, Outcome::kNotApplicable);
  EXPECT_EQ(judged(kept("other", {1})).outcome, Outcome::kNotApplicable);
}

TEST(SaturatedActivation, BadParametersAreTold) {
  const auto fault = [](std::string_view text) { return create_rule(*parse_rule_spec(text)).status().message(); };
  EXPECT_NE(fault("SaturatedActivation:threshold_tanh_min=10").find("is not below threshold_tanh_max"),
            std::string::npos);
  EXPECT_NE(fault("SaturatedActivation:tensor_regex=,use_kinds=False").find("no tensor is chosen"), std::string::npos);
  EXPECT_EQ(fault("SaturatedActivation:threshold_sigmoid_min=-5,threshold_sigmoid_max=5"), "");
}

}  // namespace
}  // namespace trainwarden::rules
