// The rules that measure rows: AttentionCollapse, RepresentationCollapse and RoutingConcentration.
#include <cmath>

#include <gtest/gtest.h>

#include "judge/rules/builtin/rule_testing.h"

namespace trainwarden::rules {
namespace {

using Steps = std::vector<std::int64_t>;

// [4, 8, 8]: each row gives `top` to one key and the rest to the others alike.
TestTensor attention(float top) {
  std::vector<float> values;
  for (int row = 0; row < 32; ++row) {
    for (int key = 0; key < 8; ++key) values.push_back(key == row % 8 ? top : (1 - top) / 7);
  }
  return shaped(kept("layer0_attention_0", values, {"attention"}), {4, 8, 8});
}

// One step for each tensor, from `first` on.
TestRun run_of(const std::vector<TestTensor>& tensors, std::int64_t first = 0) {
  TestRun run;
  for (const TestTensor& tensor : tensors) run.add({.step = first++, .tensors = {tensor}});
  return run;
}

TEST(AttentionCollapse, FiresWhenItStaysAtOnePlace) {
  const TestRun run = run_of({attention(.3F), attention(.999F), attention(.3F), attention(.999F), attention(.999F)});
  const auto verdicts = judge(run, "AttentionCollapse");
  EXPECT_EQ(steps_with(verdicts, Outcome::kOk), (Steps{0, 1, 2, 3}));
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{4}));
  EXPECT_EQ(verdicts.at(4).evidence.at(0).tensor, "layer0_attention_0");
  EXPECT_LT(verdicts.at(4).evidence.at(0).value, 0.01);
  EXPECT_EQ(steps_with(judge(run, "AttentionCollapse:patience=1"), Outcome::kFired), (Steps{1, 3, 4}));
  EXPECT_EQ(steps_with(judge(run, "AttentionCollapse:patience=1,threshold=0.99"), Outcome::kFired),
            (Steps{0, 1, 2, 3, 4}));
}

TEST(AttentionCollapse, NeedsValuesAndRows) {
  TestTensor few = attention(.999F);
  few.values.resize(64);
  few.shape = {1, 8, 8};
  EXPECT_NE(judge(run_of({few}), "AttentionCollapse").at(0).message.find("at least 32"), std::string::npos);
  const TestTensor bare = reduced("a", {1, 0}, {"attention"});
  EXPECT_EQ(judge(run_of({bare}), "AttentionCollapse").at(0).outcome, Outcome::kNotApplicable);
  EXPECT_EQ(judge(run_of({kept("a", {1})}), "AttentionCollapse").at(0).outcome, Outcome::kNotApplicable);
  EXPECT_FALSE(create_rule(*parse_rule_spec("AttentionCollapse:collection_names=")).ok());
}

// [16, 16]: all rows have a common part, and each one a place of its own.
TestTensor predictions(float common, int rows = 16) {
  std::vector<float> values;
  for (int row = 0; row < rows; ++row) {
    for (int i = 0; i < 16; ++i) values.push_back(common + (i == row % 16 ? 1 : 0));
  }
  return shaped(kept("head_output_0", values, {"predictions"}), {rows, 16});
}

TEST(RepresentationCollapse, FiresWhenAllRowsStayAlike) {
  const TestRun run = run_of({predictions(9), predictions(9), predictions(0), predictions(9), predictions(9)}, 99);
  const auto verdicts = judge(run, "RepresentationCollapse");
  EXPECT_EQ(steps_with(verdicts, Outcome::kNotApplicable), (Steps{99}));
  EXPECT_EQ(steps_with(verdicts, Outcome::kOk), (Steps{100, 101, 102}));
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{103}));
  EXPECT_GT(verdicts.at(103).evidence.at(0).value, 0.95);
  EXPECT_EQ(verdicts.at(103).evidence.at(0).quantity, "mean_cosine");
  EXPECT_EQ(steps_with(judge(run, "RepresentationCollapse:start_step=0"), Outcome::kFired), (Steps{100, 103}));
  EXPECT_EQ(steps_with(judge(run, "RepresentationCollapse:threshold=0.9999"), Outcome::kFired), Steps{});
}

TEST(RepresentationCollapse, FewRowsAreNotJudged) {
  const TestRun run = run_of({predictions(9, 7)}, 100);
  EXPECT_NE(judge(run, "RepresentationCollapse").at(100).message.find("at least 8 of 8"), std::string::npos);
}

// [100, 4]: `first` of the tokens go to expert 2.
TestTensor router(int first, int tokens = 100) {
  std::vector<float> values;
  for (int token = 0; token < tokens; ++token) {
    for (int expert = 0; expert < 4; ++expert) values.push_back(expert == (token < first ? 2 : 0) ? 1 : 0);
  }
  return shaped(kept("moe.router_output_0", values), {tokens, 4});
}

TEST(RoutingConcentration, FiresWhenOneExpertStaysFirst) {
  const TestRun run = run_of({router(81), router(81), router(80), router(81), router(90), router(85)});
  const auto verdicts = judge(run, "RoutingConcentration");
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{5}));
  EXPECT_EQ(verdicts.at(5).evidence.at(0).value, 0.85);
  EXPECT_NE(verdicts.at(5).message.find("to expert 2"), std::string::npos) << verdicts.at(5).message;
}

TEST(RoutingConcentration, OnlyWhatIsCalledRouterOrGateIsJudged) {
  const auto outcome = [](const std::string& name) {
    TestTensor tensor = router(100);
    tensor.name = name;
    return judge(run_of({tensor}), "RoutingConcentration:patience=1").at(0).outcome;
  };
  EXPECT_EQ(outcome("gate_output_0"), Outcome::kFired);
  EXPECT_EQ(outcome("layers.0.mlp.Router_output_0"), Outcome::kFired);
  EXPECT_EQ(outcome("mlp.gate_proj_output_0"), Outcome::kNotApplicable);
  EXPECT_EQ(outcome("frigate_output_0"), Outcome::kNotApplicable);
  EXPECT_EQ(outcome("router_input_0"), Outcome::kNotApplicable);
  EXPECT_NE(judge(run_of({router(63, 63)}), "RoutingConcentration").at(0).message.find("at least 64"),
            std::string::npos);
}

}  // namespace
}  // namespace trainwarden::rules
