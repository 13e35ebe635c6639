#include <cmath>

#include <gtest/gtest.h>

#include "judge/rules/builtin/rule_testing.h"

namespace trainwarden::rules {
namespace {

using Steps = std::vector<std::int64_t>;

const std::vector<std::string> kRelus = {"relu_outputs"};

// [samples, units]: the first `dead` units are always 0, the others 1 in every `sparse`-th sample.
std::vector<float> outputs(int samples, int units, int dead, int sparse = 1) {
  std::vector<float> values;
  for (int sample = 0; sample < samples; ++sample) {
    for (int unit = 0; unit < units; ++unit) values.push_back(unit >= dead && sample % sparse == 0 ? 1 : 0);
  }
  return values;
}

TestTensor layer(TestTensor tensor, int samples, int units) {
  return shaped(std::move(tensor), {samples, units});
}

TestRun one_step(TestTensor tensor) {
  TestRun run;
  run.add({.step = 0, .tensors = {std::move(tensor)}});
  return run;
}

TEST(DeadRelu, ALayerWithZeroWeightsFiresInEachForm) {
  for (const auto& make : {kept, reduced}) {
    const TestRun run = one_step(layer(make("dense0_relu_output_0", outputs(64, 10, 10), {}), 64, 10));
    const Verdict verdict = judge(run, "DeadRelu:patience=1").at(0);
    ASSERT_EQ(verdict.outcome, Outcome::kFired) << verdict.message;
    EXPECT_EQ(verdict.evidence.at(0).tensor, "dense0_relu_output_0");
    EXPECT_EQ(verdict.evidence.at(0).quantity, "dead_percent");
    EXPECT_EQ(verdict.evidence.at(0).value, 100);
    EXPECT_EQ(verdict.evidence.at(0).threshold, 50);
  }
}

TEST(DeadRelu, AnOrdinaryLayerIsFineInEachForm) {
  for (const auto& make : {kept, reduced}) {
    const TestRun run = one_step(layer(make("act", outputs(64, 10, 0, 2), kRelus), 64, 10));
    EXPECT_EQ(judge(run, "DeadRelu:patience=1,threshold_layer=51").at(0).outcome, Outcome::kOk);
  }
}

TEST(DeadRelu, MoreThanTheThresholdOfALayer) {
  const auto judged = [](int dead) {
    return judge(one_step(layer(kept("act", outputs(100, 10, dead), kRelus), 100, 10)), "DeadRelu:patience=1").at(0);
  };
  EXPECT_EQ(judged(5).outcome, Outcome::kOk);
  EXPECT_EQ(judged(6).outcome, Outcome::kFired);
  EXPECT_EQ(judged(6).evidence.at(0).value, 60);
  EXPECT_NE(judged(6).message.find("60 %, active in less than 1 % of 100 samples"), std::string::npos)
      << judged(6).message;
}

TEST(DeadRelu, AUnitThatIsActiveInExactlyTheThresholdLives) {
  const TestRun run = one_step(layer(kept("act", outputs(100, 10, 0, 100), kRelus), 100, 10));  // 1 %
  EXPECT_EQ(judge(run, "DeadRelu:patience=1").at(0).outcome, Outcome::kOk);
  EXPECT_EQ(judge(run, "DeadRelu:patience=1,threshold_inactivity=1.01").at(0).outcome, Outcome::kFired);
}

TEST(DeadRelu, SparseIsNotDeadAndStatisticsKnowWhatTheyDoNotKnow) {
  const std::vector<float> sparse = outputs(100, 10, 0, 10);  // each unit active in 10 %
  EXPECT_EQ(judge(one_step(layer(kept("act", sparse, kRelus), 100, 10)), "DeadRelu:patience=1").at(0).outcome,
            Outcome::kOk);
  const Verdict unknown = judge(one_step(layer(reduced("act", sparse, kRelus), 100, 10)), "DeadRelu:patience=1").at(0);
  EXPECT_EQ(unknown.outcome, Outcome::kInsufficientData);
  EXPECT_NE(unknown.message.find("statistics do not show it"), std::string::npos) << unknown.message;
}

TEST(DeadRelu, StatisticsBoundTheShareFromBelow) {
  // 1 of 1000 elements is active: of 10 units with 100 samples at most 1 lives, which is what the bound says.
  std::vector<float> values(1000, 0);
  values[0] = 1;
  const Verdict verdict = judge(one_step(layer(reduced("act", values, kRelus), 100, 10)), "DeadRelu:patience=1").at(0);
  ASSERT_EQ(verdict.outcome, Outcome::kFired);
  EXPECT_NEAR(verdict.evidence.at(0).value, 90, 1e-6);
  EXPECT_NE(verdict.message.find("at least 90 %"), std::string::npos) << verdict.message;
}

TEST(DeadRelu, SmallBatchesAreGathered) {
  TestRun run;
  for (std::int64_t step = 0; step < 8; ++step) {
    run.add({.step = step, .tensors = {layer(kept("act", outputs(16, 10, 10), kRelus), 16, 10)}});
  }
  const auto verdicts = judge(run, "DeadRelu:patience=1");
  EXPECT_EQ(steps_with(verdicts, Outcome::kInsufficientData), (Steps{0, 1, 2, 4, 5, 6}));
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{3, 7}));
  EXPECT_EQ(steps_with(judge(run, "DeadRelu:patience=1,num_steps=6"), Outcome::kFired), (Steps{5}));
}

TEST(DeadRelu, AUnitThatWakesWithinTheWindowLives) {
  TestRun run;
  for (std::int64_t step = 0; step < 4; ++step) {
    const int dead = step == 2 ? 0 : 10;
    run.add({.step = step, .tensors = {layer(kept("act", outputs(16, 10, dead), kRelus), 16, 10)}});
  }
  EXPECT_EQ(steps_with(judge(run, "DeadRelu:patience=1"), Outcome::kOk), (Steps{3}));
}

// [batch, channels, places]: the first `dead` channels are 0.
TestTensor convolution(int batch, int channels, int dead) {
  std::vector<float> values;
  for (int image = 0; image < batch; ++image) {
    for (int channel = 0; channel < channels; ++channel) values.insert(values.end(), 16, channel < dead ? 0 : 1);
  }
  return shaped(kept("conv_relu_output_0", values), {batch, channels, 4, 4});
}

TEST(DeadRelu, ChannelsAreTheUnitsOfConvolutions) {
  EXPECT_EQ(judge(one_step(convolution(4, 4, 3)), "DeadRelu:patience=1").at(0).outcome, Outcome::kFired);
  EXPECT_EQ(judge(one_step(convolution(4, 4, 2)), "DeadRelu:patience=1").at(0).outcome, Outcome::kOk);
  EXPECT_EQ(judge(one_step(convolution(4, 4, 3)), "DeadRelu:patience=1,unit=element").at(0).outcome,
            Outcome::kInsufficientData);
  EXPECT_EQ(judge(one_step(convolution(4, 4, 3)), "DeadRelu:patience=1,unit=element,min_samples=4").at(0).outcome,
            Outcome::kFired);
}

TEST(DeadRelu, EveryThirdChannelAloneIsFound) {
  std::vector<float> values;
  for (int image = 0; image < 64; ++image) values.insert(values.end(), {0, 0, 1, 0, 0, 1});
  const TestTensor tensor = shaped(kept("act", values, kRelus), {64, 3, 2});
  // Channels [0 0] [1 0] [0 1]: two live in half of their samples.
  EXPECT_EQ(judge(one_step(tensor), "DeadRelu:patience=1,unit=channel,threshold_layer=33").at(0).outcome,
            Outcome::kFired);
  EXPECT_EQ(judge(one_step(tensor), "DeadRelu:patience=1,unit=channel,threshold_layer=34").at(0).outcome, Outcome::kOk);
  EXPECT_EQ(judge(one_step(tensor), "DeadRelu:patience=1").at(0).evidence.at(0).value, 100 * 4.0 / 6);
}

TEST(DeadRelu, TheWorstLayerComesFirst) {
  TestRun run;
  run.add({.step = 0,
           .tensors = {layer(kept("a", outputs(64, 10, 6), kRelus), 64, 10),
                       layer(kept("b", outputs(64, 10, 9), kRelus), 64, 10),
                       layer(kept("c", outputs(64, 10, 0), kRelus), 64, 10)}});
  const Verdict verdict = judge(run, "DeadRelu:patience=1").at(0);
  ASSERT_EQ(verdict.evidence.size(), 2u);
  EXPECT_EQ(verdict.evidence[0].tensor, "b");
  EXPECT_NE(verdict.message.find("In 2 of 3 layers"), std::string::npos) << verdict.message;
}

TEST(DeadRelu, WhatIsNotFiniteOrEmptyOrAbsentIsNotJudged) {
  std::vector<float> values = outputs(64, 10, 10);
  values[3] = NAN;
  for (const auto& make : {kept, reduced}) {
    const Verdict verdict = judge(one_step(layer(make("act", values, kRelus), 64, 10)), "DeadRelu:patience=1").at(0);
    EXPECT_EQ(verdict.outcome, Outcome::kNotApplicable);
    EXPECT_NE(verdict.message.find("not finite"), std::string::npos) << verdict.message;
  }
  EXPECT_EQ(judge(one_step(kept("act", {}, kRelus)), "DeadRelu:patience=1").at(0).outcome, Outcome::kNotApplicable);
  EXPECT_EQ(judge(one_step(kept("other", {0, 0})), "DeadRelu:patience=1").at(0).outcome, Outcome::kNotApplicable);
}

TEST(DeadRelu, ALayerMustBeFoundSoTwiceInARow) {
  TestRun run;
  const std::vector<int> dead = {10, 5, 10, 10, 10, 5};
  for (std::size_t i = 0; i < dead.size(); ++i) {
    run.add({.step = static_cast<std::int64_t>(i),
             .tensors = {layer(kept("act", outputs(64, 10, dead[i]), kRelus), 64, 10)}});
  }
  const auto verdicts = judge(run, "DeadRelu");
  EXPECT_EQ(steps_with(verdicts, Outcome::kInsufficientData), (Steps{0, 2}));
  EXPECT_EQ(steps_with(verdicts, Outcome::kOk), (Steps{1, 5}));
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{3, 4}));
  EXPECT_NE(verdicts.at(0).message.find("2 windows in a row"), std::string::npos) << verdicts.at(0).message;
}

TEST(DeadRelu, WhatStatisticsDoNotTellChangesNothing) {
  TestRun run;
  run.add({.step = 0, .tensors = {layer(kept("act", outputs(64, 10, 6), kRelus), 64, 10)}});
  run.add({.step = 1, .tensors = {layer(reduced("act", outputs(64, 10, 6), kRelus), 64, 10)}});
  run.add({.step = 2, .tensors = {layer(kept("act", outputs(64, 10, 6), kRelus), 64, 10)}});
  const auto verdicts = judge(run, "DeadRelu");
  EXPECT_NE(verdicts.at(1).message.find("statistics do not show it"), std::string::npos) << verdicts.at(1).message;
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{2}));
}

TEST(DeadRelu, BadParametersAreTold) {
  const auto fault = [](std::string_view text) { return create_rule(*parse_rule_spec(text)).status().message(); };
  EXPECT_NE(fault("DeadRelu:unit=row").find("one of auto, element, channel"), std::string::npos);
  EXPECT_NE(fault("DeadRelu:tensor_regex=,use_relu_outputs=False").find("no tensor is chosen"), std::string::npos);
  EXPECT_FALSE(create_rule(*parse_rule_spec("DeadRelu:threshold_layer=101")).ok());
  EXPECT_FALSE(create_rule(*parse_rule_spec("DeadRelu:tensor_regex=(")).ok());
}

TEST(DeadRelu, NeedsStatisticsOftenAndValuesSeldom) {
  const auto rule = create_rule(*parse_rule_spec("DeadRelu:tensor_regex="));
  ASSERT_TRUE(rule.ok());
  const auto needs = (*rule)->needs();
  ASSERT_EQ(needs.size(), 2u);
  EXPECT_EQ(needs[0].name, "relu_outputs");
  EXPECT_FALSE(needs[0].keep->values);
  EXPECT_EQ(needs[0].save, SavePolicy::every(1));
  EXPECT_TRUE(needs[1].keep->values);
  EXPECT_EQ(needs[1].save, SavePolicy::every(100));
}

}  // namespace
}  // namespace trainwarden::rules
