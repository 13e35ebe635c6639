#include <cmath>

#include <gtest/gtest.h>

#include "judge/rules/builtin/optimizer/finite_survey.h"
#include "judge/rules/builtin/rule_testing.h"

namespace trainwarden::rules {
namespace {

using Steps = std::vector<std::int64_t>;

const std::string kOriginModel = R"({"modules": [{"name": "", "kind": "Net"}, {"name": "stem", "kind": "Conv2d"},
  {"name": "act", "kind": "ReLU"}, {"name": "head", "kind": "Linear"}], "parameters": [], "foreign": 0})";

// The tensors of one step; each can be made not finite.
struct StepOf {
  std::int64_t step = 0;
  std::vector<std::string> bad;
  float with = NAN;
  bool knows_model = true;
  int skipped = -1;
};

TestStep training_step(const StepOf& at) {
  const auto value = [&](const std::string& name) -> std::vector<float> {
    const bool is_bad = std::find(at.bad.begin(), at.bad.end(), name) != at.bad.end();
    return {1, is_bad ? at.with : 2};
  };
  TestStep step{.step = at.step};
  step.tensors = {reduced("net_input_0", value("net_input_0"), {"batch_inputs"}),
                  reduced("stem_output_0", value("stem_output_0"), {"outputs"}),
                  reduced("act_output_0", value("act_output_0"), {"outputs"}),
                  reduced("head_output_0", value("head_output_0"), {"outputs"}),
                  kept("loss_output_0", value("loss_output_0"), {"losses", "outputs"}),
                  reduced("gradient/head.weight", value("gradient/head.weight"), {"gradients"}),
                  reduced("gradient/stem.weight", value("gradient/stem.weight"), {"gradients"}),
                  reduced("head.weight", value("head.weight"), {"weights"}),
                  reduced("stem.weight", value("stem.weight"), {"weights"})};
  if (at.knows_model) step.tensors.push_back(strings("trainwarden/model", {kOriginModel}, {"signals"}));
  if (at.skipped >= 0) {
    step.tensors.push_back(scalar("trainwarden/amp/skipped", static_cast<float>(at.skipped), {"signals"}));
  }
  return step;
}

Verdict judge_step(const StepOf& at) {
  TestRun run;
  run.add(training_step(at));
  return judge(run, "NonFiniteOrigin").at(at.step);
}

TEST(NonFiniteOrigin, AFiniteStepIsOk) {
  EXPECT_EQ(judge_step({}).outcome, Outcome::kOk);
}

TEST(NonFiniteOrigin, TheLayerThatMadeItComesFirst) {
  const Verdict verdict = judge_step({.step = 7,
                                      .bad = {"act_output_0", "head_output_0", "loss_output_0", "gradient/head.weight",
                                              "gradient/stem.weight", "head.weight", "stem.weight"}});
  ASSERT_EQ(verdict.outcome, Outcome::kFired);
  EXPECT_EQ(verdict.severity, Severity::kError);
  EXPECT_EQ(verdict.confidence, 1);
  ASSERT_EQ(verdict.evidence.size(), 7u);
  EXPECT_EQ(verdict.evidence[0].tensor, "act_output_0");  // head_output_0 is first by name only
  EXPECT_EQ(verdict.evidence[0].quantity, "nan_count");
  EXPECT_EQ(verdict.evidence[0].value, 1);
  EXPECT_EQ(verdict.evidence[0].global_step, 7);
  EXPECT_EQ(verdict.evidence[1].tensor, "head_output_0");
  EXPECT_EQ(verdict.evidence[2].tensor, "loss_output_0");
  EXPECT_EQ(verdict.evidence[3].tensor, "gradient/head.weight");  // backward
  EXPECT_EQ(verdict.evidence[5].tensor, "stem.weight");
  EXPECT_NE(verdict.message.find("output \"act_output_0\" at step 7"), std::string::npos) << verdict.message;
  EXPECT_NE(verdict.message.find("was finite (1 batch)"), std::string::npos) << verdict.message;
}

TEST(NonFiniteOrigin, EachPhaseCanBeTheOrigin) {
  const std::vector<std::string> chain = {"net_input_0", "stem_output_0", "loss_output_0", "gradient/stem.weight",
                                          "stem.weight"};
  const std::vector<std::string> words = {"the batch itself", "number type", "loss function", "anomaly detection",
                                          "the optimizer made it"};
  for (std::size_t i = 0; i < chain.size(); ++i) {
    const Verdict verdict = judge_step({.bad = {chain.begin() + static_cast<std::ptrdiff_t>(i), chain.end()}});
    ASSERT_EQ(verdict.outcome, Outcome::kFired) << chain[i];
    EXPECT_EQ(verdict.evidence.at(0).tensor, chain[i]);
    EXPECT_NE((verdict.message + verdict.advice).find(words[i]), std::string::npos) << verdict.message;
  }
}

TEST(NonFiniteOrigin, SaysThatABatchThatWasNotCapturedMayBeToBlame) {
  const auto judged = [](const std::string& bad, bool has_batch) {
    TestRun run;
    TestStep step = training_step({.bad = {bad, "loss_output_0"}});
    if (!has_batch) step.tensors.erase(step.tensors.begin());
    run.add(step);
    return judge(run, "NonFiniteOrigin").at(0);
  };
  for (const char* bad : {"stem_output_0", "loss_output_0"}) {
    const Verdict unseen = judged(bad, false);
    EXPECT_EQ(unseen.evidence.at(0).tensor, bad);
    EXPECT_NE(unseen.message.find("The batch was not captured"), std::string::npos) << unseen.message;
    EXPECT_NE(unseen.advice.find("batch_inputs"), std::string::npos) << unseen.advice;
    EXPECT_EQ(unseen.confidence, 0.7);
    const Verdict seen = judged(bad, true);
    EXPECT_EQ((seen.message + seen.advice).find("not captured"), std::string::npos) << seen.message;
    EXPECT_EQ(seen.confidence, 1);
  }
}

TEST(NonFiniteOrigin, ABatchThatWasNotCapturedIsNotBlamedForGradientsAndWeights) {
  TestRun run;
  run.add({.step = 0, .tensors = {kept("loss", {1}, {"losses"}), reduced("gradient/w", {NAN}, {"gradients"})}});
  const Verdict verdict = judge(run, "NonFiniteOrigin").at(0);
  EXPECT_EQ(verdict.message.find("batch"), std::string::npos) << verdict.message;
  EXPECT_EQ(verdict.confidence, 1);
}

TEST(NonFiniteOrigin, NamesTheSamplesThatTheDataLoaderGave) {
  const auto judged = [](std::string bad) {
    TestRun run;
    TestStep step = training_step({.bad = {std::move(bad)}});
    step.tensors.push_back(
        strings("trainwarden/batch/bad_samples",
                {R"({"batches":[{"kind":"same","count":1,"samples":[{"row":0,"index":1}]},)"
                 R"({"kind":"not_finite","count":1,"samples":[{"row":3,"index":7,"source":"a.jpg"}]}]})"},
                {"signals"}));
    run.add(step);
    return judge(run, "NonFiniteOrigin").at(0);
  };
  EXPECT_EQ(judged("net_input_0").outcome, Outcome::kOk);  // it has reached nothing
  const Verdict verdict = judged("loss_output_0");         // the targets had them, which are not captured
  EXPECT_NE(verdict.message.find("The data loader gave sample 7 (a.jpg)."), std::string::npos) << verdict.message;
  ASSERT_EQ(verdict.evidence.size(), 2u);
  EXPECT_EQ(verdict.evidence[0].tensor, "loss_output_0");
  EXPECT_EQ(verdict.evidence[1].quantity, "sample_index");
  EXPECT_EQ(verdict.evidence[1].value, 7);
  EXPECT_EQ(judged("gradient/stem.weight").evidence.size(), 1u);  // the batch is not to blame
}

TEST(NonFiniteOrigin, WithoutTheModelTheOrderIsAGuess) {
  const Verdict verdict = judge_step({.bad = {"act_output_0", "head_output_0", "loss_output_0"}, .knows_model = false});
  EXPECT_EQ(verdict.evidence.at(0).tensor, "act_output_0");
  EXPECT_EQ(verdict.confidence, 0.7);
  EXPECT_EQ(judge_step({.bad = {"head_output_0", "loss_output_0"}, .knows_model = false}).confidence, 1);
}

TEST(NonFiniteOrigin, WhatReachesNothingDoesNotFire) {
  EXPECT_EQ(judge_step({.bad = {"act_output_0"}}).outcome, Outcome::kOk);
  EXPECT_EQ(judge_step({.bad = {"net_input_0"}, .with = -INFINITY}).outcome, Outcome::kOk);
}

TEST(NonFiniteOrigin, ABufferOfMinusInfinityIsAMask) {
  TestRun run;
  run.add({.step = 0, .tensors = {reduced("mask", {0, -INFINITY}, {"buffers"}), reduced("w", {1}, {"weights"})}});
  run.add({.step = 1, .tensors = {reduced("running_var", {0, INFINITY}, {"buffers"})}});
  run.add({.step = 2, .tensors = {reduced("running_var", {0, NAN}, {"buffers"})}});
  const auto verdicts = judge(run, "NonFiniteOrigin");
  EXPECT_EQ(steps_with(verdicts, Outcome::kOk), (Steps{0}));
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{1, 2}));
}

TEST(NonFiniteOrigin, AMaskIsNoSuspect) {
  TestRun run;
  run.add(training_step({.step = 0, .bad = {"stem_output_0"}, .with = -INFINITY}));
  run.add(training_step({.step = 1, .bad = {"stem_output_0", "head_output_0", "loss_output_0"}, .with = -INFINITY}));
  const auto verdicts = judge(run, "NonFiniteOrigin");
  EXPECT_EQ(verdicts.at(0).outcome, Outcome::kOk);
  EXPECT_EQ(verdicts.at(1).evidence.at(0).tensor, "head_output_0");
  EXPECT_EQ(judge_step({.bad = {"net_input_0", "loss_output_0"}, .with = -INFINITY}).evidence.at(0).tensor,
            "loss_output_0");
  EXPECT_EQ(judge_step({.bad = {"net_input_0", "loss_output_0"}, .with = INFINITY}).evidence.at(0).tensor,
            "net_input_0");
}

TEST(NonFiniteOrigin, GradientsThatTheScalerLeftOutAreFine) {
  EXPECT_EQ(judge_step({.bad = {"gradient/stem.weight"}, .with = INFINITY, .skipped = 1}).outcome, Outcome::kOk);
  EXPECT_EQ(judge_step({.bad = {"gradient/stem.weight"}, .with = INFINITY, .skipped = 0}).outcome, Outcome::kFired);
}

TEST(NonFiniteOrigin, ALossOfSkippedStepsIsANoteUntilTheThird) {
  TestRun run;
  for (const std::int64_t step : {0, 1, 2}) {
    run.add(training_step({.step = step, .bad = {"loss_output_0"}, .skipped = 1}));
  }
  const auto verdicts = judge(run, "NonFiniteOrigin");
  EXPECT_EQ(verdicts.at(0).severity, Severity::kInfo);
  EXPECT_EQ(verdicts.at(1).severity, Severity::kInfo);
  EXPECT_EQ(verdicts.at(2).severity, Severity::kError);
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{0, 1, 2}));
}

TEST(NonFiniteOrigin, SaysSinceWhen) {
  TestRun run;
  run.add(training_step({.step = 10}));
  run.add(training_step({.step = 20, .bad = {"stem.weight"}}));
  const Verdict verdict = judge(run, "NonFiniteOrigin").at(20);
  EXPECT_NE(verdict.message.find("judged and finite is 10"), std::string::npos) << verdict.message;
}

TEST(NonFiniteOrigin, SingleReductionsTell) {
  TestRun run;
  run.add({.step = 0, .tensors = {single_reductions("g", {{Reduction::kMean, true, NAN}}, {"gradients"})}});
  run.add({.step = 1, .tensors = {single_reductions("g", {{Reduction::kMean, true, 1}}, {"gradients"})}});
  const auto verdicts = judge(run, "NonFiniteOrigin");
  EXPECT_EQ(verdicts.at(0).evidence.at(0).quantity, "abs_mean");
  EXPECT_EQ(verdicts.at(1).outcome, Outcome::kOk);
}

TEST(NonFiniteOrigin, NothingCapturedIsNotApplicable) {
  TestRun run;
  run.add({.step = 0, .tensors = {scalar("other", NAN), shape_only("g", {1}, {"gradients"})}});
  EXPECT_EQ(judge(run, "NonFiniteOrigin").at(0).outcome, Outcome::kNotApplicable);
}

TEST(NonFiniteOrigin, EachWorkerIsNamed) {
  TestRun run(2);
  run.add({.step = 0, .tensors = {reduced("g", {1}, {"gradients"})}, .worker = 0});
  run.add({.step = 0, .tensors = {reduced("g", {NAN}, {"gradients"})}, .worker = 1});
  EXPECT_EQ(judge(run, "NonFiniteOrigin").at(0).evidence.at(0).worker, "rank-00001");
}

TEST(NaturalLess, NumbersByValue) {
  EXPECT_TRUE(natural_less("layer2.weight", "layer10.weight"));
  EXPECT_FALSE(natural_less("layer10", "layer2"));
  EXPECT_TRUE(natural_less("a", "b"));
  EXPECT_TRUE(natural_less("a", "a1"));
  EXPECT_FALSE(natural_less("a01", "a1"));
  EXPECT_FALSE(natural_less("a", "a"));
}

}  // namespace
}  // namespace trainwarden::rules
