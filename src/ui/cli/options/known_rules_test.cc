#include "ui/cli/options/known_rules.h"

#include <gtest/gtest.h>

namespace trainwarden::cli {
namespace {

using Words = std::vector<std::string>;

ActionWiring wiring_of(const Words& on_fire) {
  const auto wiring = ActionChoice{on_fire, ""}.wiring(SkipStep::kAllowed);
  EXPECT_TRUE(wiring.ok()) << wiring.status().to_string();
  return wiring.value_or({});
}

TEST(KnownRulesTest, ARuleThatNobodyHasIsRefusedWithTheNearestName) {
  const Status status = check_named_rules(wiring_of({"stop:rule=VanishingGradent"}), {});
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.message().find("\"VanishingGradient\""), std::string::npos) << status.message();
  EXPECT_NE(status.message().find("--on-fire stop"), std::string::npos) << status.message();
  EXPECT_EQ(check_named_rules(wiring_of({"stop:rule=NaNLoss"}), {}).code(), Code::kInvalidArgument);
  EXPECT_EQ(check_named_rules(wiring_of({"skip-step:rule=NaNLoss"}), {}).code(), Code::kInvalidArgument);
  EXPECT_EQ(check_named_rules(wiring_of({"stop:rule=ExplodingTensor;NaNLoss"}), {}).code(), Code::kInvalidArgument);
}

TEST(KnownRulesTest, APatternThatNamesOneIsRefusedToo) {
  const auto with_rule = [](const std::string& rule) {
    return wiring_of({R"(stop:event={"data": {"change": {"rule": [")" + rule + R"("]}}})"});
  };
  EXPECT_EQ(check_named_rules(with_rule("NaNLoss"), {}).code(), Code::kInvalidArgument);
  EXPECT_TRUE(check_named_rules(with_rule("ExplodingTensor"), {}).ok());
}

TEST(KnownRulesTest, RulesOfOnesOwnAreKnownWhereTheyJudge) {
  const Words own = {"MyRule"};
  EXPECT_TRUE(check_named_rules(wiring_of({"stop:rule=my_rule;ExplodingTensor;*Gradient"}), own).ok());
  const Status status = check_named_rules(wiring_of({"stop:rule=MyRul"}), own);
  EXPECT_NE(status.message().find("\"MyRule\""), std::string::npos) << status.message();
}

TEST(KnownRulesTest, AnActionForRulesThatDoNotJudgeHereIsTold) {
  const Words judging = {"ExplodingTensor"};
  EXPECT_EQ(idle_wires(wiring_of({"stop", "save:rule=ExplodingTensor;Hang"}), judging), Words());
  const Words idle = idle_wires(wiring_of({"stop:rule=Hang"}), judging);
  ASSERT_EQ(idle.size(), 1u);
  EXPECT_NE(idle[0].find("Hang"), std::string::npos);
  EXPECT_EQ(idle_wires(wiring_of({"stop"}), {}).size(), 1u) << "no rule at all";
  EXPECT_EQ(idle_wires(wiring_of({R"(file:path=a.jsonl,event={"data": {"attempt": [1]}})"}), {}), Words());
}

}  // namespace
}  // namespace trainwarden::cli
