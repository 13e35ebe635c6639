#include <cmath>

#include <gtest/gtest.h>

#include "judge/rules/builtin/rule_testing.h"

namespace trainwarden::rules {
namespace {

using Steps = std::vector<std::int64_t>;

const std::vector<std::string> kInputs = {"relu_inputs"};
const std::vector<std::string> kGradients = {"gradients"};
const std::vector<std::string> kLosses = {"losses"};

// Of `count` elements from -half to half, evenly.
std::vector<float> even(float half, int count = 41) {
  std::vector<float> values;
  for (int i = 0; i < count; ++i)
    values.push_back(half * (2 * static_cast<float>(i) / static_cast<float>(count - 1) - 1));
  return values;
}

Verdict judged(std::vector<TestTensor> tensors, std::string_view spec = "PoorWeightInitialization") {
  TestRun run;
  run.add({.step = 0, .tensors = std::move(tensors)});
  return judge(run, spec).at(0);
}

TEST(PoorWeightInitialization, VariancesThatDifferTooMuchFire) {
  // Variances 1, 4, 10 and 40.
  const auto layers = [](float last) {
    return std::vector<TestTensor>{reduced("a", {-1, 1}, kInputs), kept("b_relu_input_0", {-2, 2}),
                                   reduced("c", {-last, last}, kInputs)};
  };
  EXPECT_EQ(judged(layers(3.16F)).outcome, Outcome::kOk);
  const Verdict verdict = judged(layers(6.4F));
  ASSERT_EQ(verdict.outcome, Outcome::kFired);
  ASSERT_EQ(verdict.evidence.size(), 1u);
  EXPECT_EQ(verdict.evidence[0].tensor, "c");
  EXPECT_EQ(verdict.evidence[0].quantity, "variance_ratio");
  EXPECT_NEAR(verdict.evidence[0].value, 40.96, 1e-3);
  EXPECT_EQ(judged(layers(6.4F), "PoorWeightInitialization:threshold=41").outcome, Outcome::kOk);
}

TEST(PoorWeightInitialization, TheLayerThatIsFartherOutIsNamed) {
  const auto named = [](std::vector<float> halves) {
    std::vector<TestTensor> layers;
    for (const float half : halves) {
      layers.push_back(reduced(std::string(1, static_cast<char>('a' + layers.size())), {-half, half}, kInputs));
    }
    return judged(layers).evidence.at(0).tensor;
  };
  EXPECT_EQ(named({1, 100}), "b");
  EXPECT_EQ(named({100, 1}), "a");
  EXPECT_EQ(named({1, 2, 3, 100}), "d");
  EXPECT_EQ(named({100, 90, 80, 1}), "d");
}

TEST(PoorWeightInitialization, AVarianceOfZeroIsInfinitelyLess) {
  const Verdict verdict = judged({reduced("a", {1, 1}, kInputs), reduced("b", {-1, 1}, kInputs)});
  ASSERT_EQ(verdict.outcome, Outcome::kFired);
  EXPECT_TRUE(std::isinf(verdict.evidence.at(0).value));
  EXPECT_EQ(verdict.evidence.at(0).tensor, "a");
}

TEST(PoorWeightInitialization, GradientsThatAreTooAlikeFire) {
  for (const auto& make : {kept, summarised}) {
    EXPECT_EQ(judged({make("gradient/a", even(0.001F), kGradients)}).outcome, Outcome::kOk);  // 0.0018
    const Verdict verdict =
        judged({make("gradient/a", even(0.001F), kGradients), make("gradient/b", even(0.0001F), kGradients)});
    ASSERT_EQ(verdict.outcome, Outcome::kFired);
    ASSERT_EQ(verdict.evidence.size(), 1u);
    EXPECT_EQ(verdict.evidence[0].tensor, "gradient/b");
    EXPECT_EQ(verdict.evidence[0].quantity, "gradient_range");
    EXPECT_NEAR(verdict.evidence[0].value, 0.00018, 0.00002);
  }
}

TEST(PoorWeightInitialization, SmallOrBareGradientsAreLeftOut) {
  EXPECT_EQ(judged({kept("gradient/bias", {1e-9F}, kGradients)}).outcome, Outcome::kNotApplicable);
  const Verdict bare = judged({reduced("gradient/a", even(1e-9F), kGradients)});
  EXPECT_EQ(bare.outcome, Outcome::kNotApplicable);
  EXPECT_NE(bare.message.find("neither values nor a histogram"), std::string::npos) << bare.message;
}

TEST(PoorWeightInitialization, ALossThatStandsStillFires) {
  TestRun run;
  const std::vector<float> losses = {1, 1, 1.5F, NAN, 1, 1, 0.5F, 2};
  for (std::size_t i = 0; i < losses.size(); ++i) {
    run.add({.step = static_cast<std::int64_t>(i), .tensors = {scalar("loss", losses[i], kLosses)}});
  }
  const auto verdicts = judge(run, "PoorWeightInitialization");
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{5}));
  EXPECT_EQ(verdicts.at(5).evidence.at(0).quantity, "steps_without_improvement");
  EXPECT_EQ(steps_with(judge(run, "PoorWeightInitialization:patience=4"), Outcome::kFired), (Steps{4, 5}));
}

TEST(PoorWeightInitialization, OnlyTheFirstStepsOfTrainingAreJudged) {
  TestRun run;
  run.add({.step = 0, .tensors = {scalar("loss", 1, kLosses)}, .mode = Mode::kEval, .mode_step = 0});
  run.add({.step = 1, .tensors = {scalar("loss", 1, kLosses)}, .mode = Mode::kTrain, .mode_step = 9});
  run.add({.step = 2, .tensors = {scalar("loss", 1, kLosses)}, .mode = Mode::kTrain, .mode_step = 10});
  run.add({.step = 3, .mode = Mode::kTrain, .mode_step = 2});
  const auto verdicts = judge(run, "PoorWeightInitialization");
  EXPECT_EQ(steps_with(verdicts, Outcome::kOk), (Steps{1}));
  EXPECT_EQ(steps_with(verdicts, Outcome::kNotApplicable), (Steps{0, 2, 3}));
}

TEST(PoorWeightInitialization, NeedsNothingPastTheFirstSteps) {
  const auto rule = create_rule(*parse_rule_spec("PoorWeightInitialization:steps=7"));
  ASSERT_TRUE(rule.ok());
  for (const Collection& need : (*rule)->needs()) {
    EXPECT_EQ(need.save->by_mode[0]->end_step, 7) << need.name;
    EXPECT_EQ(need.save->by_mode[0]->save_interval, 1) << need.name;
  }
  EXPECT_FALSE(create_rule(*parse_rule_spec("PoorWeightInitialization:steps=0")).ok());
}

}  // namespace
}  // namespace trainwarden::rules
