#include <fmt/format.h>

#include "judge/rules/builtin/training/signal_testing.h"

namespace trainwarden::rules {
namespace {

using Steps = std::vector<std::int64_t>;

struct Parameter {
  std::string name;
  bool optimized = true;
  bool trainable = true;
  int bits = 32;
};

// The models' own entries are `roots` (a prefix and the class "Net").
TestTensor model(const std::vector<Parameter>& parameters, int foreign = 0,
                 const std::vector<std::string>& roots = {"Net"}) {
  std::string modules;
  for (const std::string& root : roots) {
    modules += fmt::format(R"({}{{"name": "{}", "kind": "Net"}})", modules.empty() ? "" : ",", root);
  }
  std::string listed;
  for (const Parameter& parameter : parameters) {
    listed +=
        fmt::format(R"({}{{"name": "{}", "trainable": {}, "optimized": {}, "bits": {}}})", listed.empty() ? "" : ",",
                    parameter.name, parameter.trainable, parameter.optimized, parameter.bits);
  }
  return text_signal(signals::kModel, fmt::format(R"({{"modules": [{}], "parameters": [{}], "foreign": {}}})", modules,
                                                  listed, foreign));
}

// Gives the model at step 0 and goes on for 21 steps.
Verdicts judge_model(const TestTensor& model) {
  TestRun run;
  run.add({.step = 0, .tensors = {model}});
  run.add_steps(1, 21);
  return judge(run, "ForgottenParameter");
}

TEST(ForgottenParameter, FewerThanHalfOfAModel) {
  const auto verdicts = judge_model(model({{"a"}, {"b", false}, {"c"}}));
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{20, 21}));
  EXPECT_EQ(verdicts.at(19).outcome, Outcome::kInsufficientData);
  const Verdict& verdict = verdicts.at(20);
  EXPECT_EQ(verdict.severity, Severity::kWarning);
  ASSERT_EQ(verdict.evidence.size(), 1u);
  EXPECT_EQ(verdict.evidence[0].tensor, "b");
  EXPECT_NE(verdict.message.find("1 of the model's 3 trainable"), std::string::npos) << verdict.message;
}

TEST(ForgottenParameter, AllInPlaceIsOk) {
  EXPECT_EQ(judge_model(model({{"a"}, {"b"}})).at(21).outcome, Outcome::kOk);
}

TEST(ForgottenParameter, FrozenParametersAreNotForgotten) {
  EXPECT_EQ(judge_model(model({{"a"}, {"b"}, {"c", false, false}})).at(21).outcome, Outcome::kOk);
}

TEST(ForgottenParameter, HalfOfAModelOrMoreMayBeMeant) {
  EXPECT_EQ(judge_model(model({{"a"}, {"b", false}})).at(20).severity, Severity::kInfo);
  EXPECT_EQ(judge_model(model({{"a"}, {"b", false}, {"c", false}})).at(20).severity, Severity::kInfo);
}

TEST(ForgottenParameter, ATensorOfNoModelForEachForgottenOneIsAStaleOptimizer) {
  const auto verdicts = judge_model(model({{"a", false}, {"b", false}}, 2));
  EXPECT_EQ(verdicts.at(20).severity, Severity::kWarning);
  EXPECT_NE(verdicts.at(20).message.find("as many tensors that are in no model"), std::string::npos);
  EXPECT_EQ(judge_model(model({{"a", false}, {"b", false}}, 1)).at(20).severity, Severity::kInfo);
  EXPECT_EQ(judge_model(model({{"a"}}, 1)).at(20).outcome, Outcome::kOk);  // a temperature, an image
}

TEST(ForgottenParameter, AnOptimizerWithCopiesOf32BitsIsANote) {
  EXPECT_EQ(judge_model(model({{"a", false, true, 16}, {"b", false, true, 16}}, 2)).at(20).severity, Severity::kInfo);
  EXPECT_EQ(judge_model(model({{"a", false, true, 16}, {"b", false, true, 32}}, 2)).at(20).severity,
            Severity::kWarning);
}

TEST(ForgottenParameter, ATargetNetworkIsAModelOfItsOwn) {
  const auto verdicts = judge_model(model({{"actor.a"}, {"critic.a"}, {"critic.b"}, {"target.a", false}}, 0,
                                          {"actor.Net", "critic.Net", "target.Net"}));
  EXPECT_EQ(verdicts.at(20).severity, Severity::kInfo);
  // The same names within one model.
  EXPECT_EQ(judge_model(model({{"actor.a"}, {"critic.a"}, {"critic.b"}, {"target.a", false}})).at(20).severity,
            Severity::kWarning);
}

TEST(ForgottenParameter, OptimizersThatComeLaterAreWaitedFor) {
  TestRun run;
  run.add({.step = 0, .tensors = {model({{"a"}, {"b"}, {"c", false}})}});
  run.add_steps(1, 9);
  run.add({.step = 10, .tensors = {model({{"a"}, {"b"}, {"c"}})}});
  run.add_steps(11, 40);
  const auto verdicts = judge(run, "ForgottenParameter");
  EXPECT_TRUE(steps_with(verdicts, Outcome::kFired).empty());
  EXPECT_EQ(verdicts.at(29).outcome, Outcome::kInsufficientData);
  EXPECT_EQ(verdicts.at(30).outcome, Outcome::kOk);
}

TEST(ForgottenParameter, WhatCannotBeRead) {
  TestRun run;
  run.add({.step = 0, .tensors = {text_signal(signals::kModel, R"({"modules": []})")}});
  run.add_steps(1, 1);
  const auto verdicts = judge(run, "ForgottenParameter");
  EXPECT_EQ(verdicts.at(0).outcome, Outcome::kInsufficientData);
  EXPECT_NE(verdicts.at(0).message.find("parameters"), std::string::npos) << verdicts.at(0).message;
  EXPECT_EQ(verdicts.at(1).outcome, Outcome::kNotApplicable);
}

}  // namespace
}  // namespace trainwarden::rules
