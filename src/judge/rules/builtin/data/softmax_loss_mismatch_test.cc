#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "judge/rules/builtin/rule_testing.h"

namespace trainwarden::rules {
namespace {

using Steps = std::vector<std::int64_t>;
using Numbers = std::function<std::vector<float>(std::int64_t step)>;

const std::vector<std::string> kPredictions = {"predictions"};

// 40 steps of [4, 2] predictions.
TestRun predictions_of(const std::string& tensor, const Numbers& numbers) {
  TestRun run;
  for (std::int64_t step = 0; step < 40; ++step) {
    run.add({.step = step, .tensors = {shaped(reduced(tensor, numbers(step), kPredictions), {4, 2})}});
  }
  return run;
}

std::vector<float> probabilities(std::int64_t step) {
  const float p = static_cast<float>(step % 7) / 7;
  return {p, 1 - p, 0.5F, 0.5F, 0, 1, 0.25F, 0.75F};
}
std::vector<float> scores(std::int64_t step) {
  const float s = static_cast<float>(step % 5);
  return {s, -s, 1, -1, 0.5F, 0.25F, 2, -2};
}
std::vector<float> logarithms(std::int64_t step) {
  std::vector<float> numbers = probabilities(step);
  for (float& number : numbers) number = std::log(number + 1e-6F);
  return numbers;
}

std::int64_t first_mismatch(const TestRun& run, std::string_view spec = "SoftmaxLossMismatch") {
  const Steps steps = steps_with(judge(run, spec), Outcome::kFired);
  return steps.empty() ? -1 : steps.front();
}

TEST(SoftmaxLossMismatch, ProbabilitiesInACrossEntropy) {
  for (const char* tensor :
       {"CrossEntropyLoss_input_0", "netD.CrossEntropyLoss_input_0", "nll_loss_input_0", "cross_entropy_input_2"}) {
    EXPECT_EQ(first_mismatch(predictions_of(tensor, probabilities)), 4) << tensor;
    EXPECT_EQ(first_mismatch(predictions_of(tensor, scores)), -1) << tensor;
    EXPECT_EQ(first_mismatch(predictions_of(tensor, logarithms)), -1) << tensor;
  }
  const Verdict verdict = judge(predictions_of("CrossEntropyLoss_input_0", probabilities), "SoftmaxLossMismatch").at(9);
  EXPECT_EQ(verdict.evidence.at(0).quantity, "row_sum");
  EXPECT_NEAR(verdict.evidence.at(0).value, 1, 1e-6);
  EXPECT_NE(verdict.message.find("softmax"), std::string::npos);
}

TEST(SoftmaxLossMismatch, ARowSumThatIsOffIsNoSoftmax) {
  for (const auto& [off, fires] : {std::pair(0.002F, true), std::pair(0.003F, false)}) {
    const auto near = [off = off](std::int64_t step) {
      std::vector<float> numbers = probabilities(step);
      for (float& number : numbers) number *= 1 - off;
      return numbers;
    };
    EXPECT_EQ(first_mismatch(predictions_of("CrossEntropyLoss_input_0", near)) >= 0, fires) << off;
  }
}

TEST(SoftmaxLossMismatch, TheStepsMustFollowEachOther) {
  const auto every_other = [](std::int64_t step) { return step % 5 == 4 ? scores(step) : probabilities(step); };
  EXPECT_EQ(first_mismatch(predictions_of("CrossEntropyLoss_input_0", every_other)), -1);
  EXPECT_EQ(first_mismatch(predictions_of("CrossEntropyLoss_input_0", every_other), "SoftmaxLossMismatch:patience=4"),
            3);
}

TEST(SoftmaxLossMismatch, ScoresOrProbabilitiesInNLLLoss) {
  EXPECT_EQ(first_mismatch(predictions_of("NLLLoss_input_0", scores)), 4);
  EXPECT_EQ(first_mismatch(predictions_of("NLLLoss_input_0", probabilities)), 4);
  EXPECT_EQ(first_mismatch(predictions_of("NLLLoss_input_0", logarithms)), -1);
  EXPECT_EQ(first_mismatch(predictions_of("GaussianNLLLoss_input_0", scores)), -1);  // takes anything
}

TEST(SoftmaxLossMismatch, SigmoidOutputsInALossWithLogits) {
  const TestRun run = predictions_of("BCEWithLogitsLoss_input_0", probabilities);
  EXPECT_EQ(first_mismatch(run), 29);  // the 30th step
  EXPECT_LT(judge(run, "SoftmaxLossMismatch").at(29).confidence, 1);
  EXPECT_EQ(first_mismatch(predictions_of("BCEWithLogitsLoss_input_0", scores)), -1);
  const auto narrow = [](std::int64_t) { return std::vector<float>{.3F, .4F, .5F, .6F, .7F, .5F, .5F, .5F}; };
  EXPECT_EQ(first_mismatch(predictions_of("BCEWithLogitsLoss_input_0", narrow)), -1);
  EXPECT_EQ(first_mismatch(predictions_of("BCELoss_input_0", probabilities)), -1);  // which takes probabilities
}

TEST(SoftmaxLossMismatch, ScoresThatWereOnceOutsideAreNoSigmoids) {
  const auto settles = [](std::int64_t step) { return step == 0 ? scores(1) : probabilities(step); };
  EXPECT_EQ(first_mismatch(predictions_of("BCEWithLogitsLoss_input_0", settles)), -1);
}

TEST(SoftmaxLossMismatch, ANegativeCrossEntropy) {
  for (const auto& [tensor, fires] :
       {std::pair("nll_loss_output_0", true), std::pair("CrossEntropyLoss_output_0", true),
        std::pair("BCELoss_output_0", true), std::pair("GaussianNLLLoss_output_0", false),
        std::pair("loss_output_0", false)}) {
    TestRun run;
    for (std::int64_t step = 0; step < 6; ++step) {
      run.add({.step = step, .tensors = {scalar(tensor, step == 0 ? 0.1F : -0.5F, {"losses"})}});
    }
    EXPECT_EQ(first_mismatch(run), fires ? 5 : -1) << tensor;
  }
}

TEST(SoftmaxLossMismatch, NaNIsNothingToGoBy) {
  const auto broken = [](std::int64_t) { return std::vector<float>(8, NAN); };
  for (const char* tensor : {"CrossEntropyLoss_input_0", "NLLLoss_input_0", "BCEWithLogitsLoss_input_0"}) {
    EXPECT_EQ(first_mismatch(predictions_of(tensor, broken)), -1) << tensor;
  }
  TestRun run;
  run.add_steps(0, 0);
  run.add({.step = 1, .tensors = {scalar("nll_loss_output_0", NAN, {"losses"})}});
  EXPECT_EQ(first_mismatch(run, "SoftmaxLossMismatch:patience=1"), -1);
}

TEST(SoftmaxLossMismatch, LossesThatItDoesNotKnowAreNotJudged) {
  const auto verdicts = judge(predictions_of("MSELoss_input_0", probabilities), "SoftmaxLossMismatch");
  EXPECT_EQ(steps_with(verdicts, Outcome::kNotApplicable).size(), 40u);
}

}  // namespace
}  // namespace trainwarden::rules
