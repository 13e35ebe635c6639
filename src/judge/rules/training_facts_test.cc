#include "judge/rules/training_facts.h"

#include <cmath>

#include <gtest/gtest.h>

#include "judge/rules/trial_window.h"
#include "read/trial/run_testing.h"

namespace trainwarden::rules {
namespace {

const std::vector<std::string> kSignals = {"signals"};

TestTensor text(const std::string& name, const std::string& json) {
  return strings("trainwarden/" + name, {json}, kSignals);
}

TestTensor rate(int group, float value) {
  return scalar("trainwarden/learning_rate/" + std::to_string(group), value, kSignals);
}

class Facts : public ::testing::Test {
 protected:
  Status take(const TestRun& run, std::int64_t step = 0) {
    const auto trial = run.open();
    return facts.update(TrialWindow(*trial, step));
  }
  TrainingFacts facts;
};

TEST_F(Facts, TheModel) {
  TestRun run;
  run.add({.step = 0, .tensors = {text("model", R"({"modules": [
      {"name": "", "kind": "Net"}, {"name": "body", "kind": "Sequential"}, {"name": "body.0", "kind": "Linear"},
      {"name": "body.10", "kind": "ReLU"}, {"name": "head", "kind": "Linear"}],
      "parameters": [{"name": "body.0.weight", "trainable": true, "optimized": true},
                     {"name": "head.weight", "trainable": false, "optimized": true},
                     {"name": "head.bias", "trainable": true, "optimized": false}], "foreign": 0})")}});
  EXPECT_FALSE(facts.knows_model());
  ASSERT_TRUE(take(run).ok());
  EXPECT_TRUE(facts.knows_model());
  EXPECT_EQ(facts.is_trained("body.0.weight"), true);
  EXPECT_EQ(facts.is_trained("head.weight"), false);
  EXPECT_EQ(facts.is_trained("head.bias"), false);
  EXPECT_EQ(facts.is_trained("other"), std::nullopt);
  EXPECT_EQ(facts.module_kind("body.10"), "ReLU");
  EXPECT_LT(facts.module_order("body.0"), facts.module_order("body.10"));
  EXPECT_LT(facts.module_order("body.10"), facts.module_order("body"));  // parts before what they are part of
  EXPECT_LT(facts.module_order("body"), facts.module_order("head"));
  EXPECT_LT(facts.module_order("head"), facts.module_order(""));
  EXPECT_EQ(facts.module_order("body.1"), std::nullopt);
}

TEST_F(Facts, TheOutermostModelComesLastWhateverItIsCalled) {
  TestRun run;
  run.add({.step = 0, .tensors = {text("model", R"({"modules": [{"name": "Net", "kind": "Net"},
      {"name": "stem", "kind": "Linear"}, {"name": "head", "kind": "Linear"}], "parameters": [], "foreign": 0})")}});
  ASSERT_TRUE(take(run).ok());
  EXPECT_LT(facts.module_order("stem"), facts.module_order("head"));
  EXPECT_LT(facts.module_order("head"), facts.module_order("Net"));
}

TEST_F(Facts, TheOptimizersAndTheirLearningRates) {
  TestRun run;
  run.add({.step = 0,
           .tensors = {text("optimizer", R"({"optimizers": [
               {"kind": "Adam", "groups": [{"parameters": 10, "lr": 0.001, "eps": 1e-08}]},
               {"kind": "SGD", "groups": [{"parameters": 1, "lr": 0.1, "momentum": 0.9}]}]})"),
                       rate(0, 0.5F), rate(1, 0.25F)}});
  run.add({.step = 1, .tensors = {rate(1, 2)}});
  run.add({.step = 2, .tensors = {rate(0, NAN)}});
  EXPECT_EQ(facts.largest_learning_rate(), std::nullopt);
  ASSERT_TRUE(take(run).ok());
  ASSERT_EQ(facts.optimizers().size(), 2u);
  EXPECT_TRUE(facts.has_several_optimizers());
  EXPECT_EQ(facts.optimizers()[0].kind, "Adam");
  EXPECT_EQ(facts.optimizers()[0].epsilons, (std::vector<double>{1e-8}));
  EXPECT_TRUE(facts.optimizers()[1].epsilons.empty());
  EXPECT_EQ(facts.largest_learning_rate(), 0.5);
  ASSERT_TRUE(take(run, 1).ok());
  EXPECT_EQ(facts.learning_rates(), (std::map<std::size_t, double>{{0, 0.5}, {1, 2}}));
  ASSERT_TRUE(take(run, 2).ok());
  EXPECT_TRUE(std::isnan(facts.largest_learning_rate().value_or(0)));
}

TEST_F(Facts, NoSignalsAreNoFailure) {
  TestRun run;
  run.add({.step = 0, .tensors = {scalar("loss", 1, {"losses"})}});
  EXPECT_TRUE(take(run).ok());
  EXPECT_FALSE(facts.knows_model());
  EXPECT_FALSE(facts.knows_optimizers());
}

TEST_F(Facts, ABrokenSignalIsSaid) {
  TestRun run;
  run.add({.step = 0, .tensors = {text("model", R"({"modules": 3})")}});
  const Status status = take(run);
  EXPECT_EQ(status.code(), Code::kDataLoss);
  EXPECT_NE(status.message().find("modules"), std::string::npos) << status.message();
}

TEST(ReadSignals, ByNameAndRepeat) {
  TestRun run;
  run.add({.step = 0,
           .tensors = {scalar("trainwarden/amp/skipped", 1, kSignals), scalar("trainwarden/amp/skipped#1", 0, kSignals),
                       scalar("trainwarden/amp/skipped_not", 2, kSignals), scalar("trainwarden/other", 3)}});
  const auto trial = run.open();
  const auto values = read_signals(TrialWindow(*trial, 0), "trainwarden/amp/skipped");
  ASSERT_TRUE(values.ok());
  ASSERT_EQ(values->size(), 2u);
  EXPECT_EQ(values->at(0).value, 1);
  EXPECT_EQ(values->at(1).spot.tensor, "trainwarden/amp/skipped#1");
}

}  // namespace
}  // namespace trainwarden::rules
