#include "judge/rules/capture_needs.h"

#include <gtest/gtest.h>

#include "judge/rules/needs.h"

namespace trainwarden::rules {
namespace {

// Needs what it is constructed with.
class NeedyRule final : public Rule {
 public:
  explicit NeedyRule(std::vector<Collection> needs) : needs_(std::move(needs)) {}
  Verdict evaluate(const StepWindow&) override { return Verdict::ok(); }
  std::vector<Collection> needs() const override { return needs_; }

 private:
  const std::vector<Collection> needs_;
};

std::vector<EngineRule> rules_that_need(std::vector<std::vector<Collection>> needs) {
  std::vector<EngineRule> rules;
  for (auto& each : needs) rules.push_back({{"Needy", {}}, std::make_unique<NeedyRule>(std::move(each))});
  return rules;
}

TEST(CaptureNeedsTest, TheSameStepsOfACollectionBecomeOne) {
  const auto rules = rules_that_need({{need_statistics("gradients")}, {need_hash("gradients"), need_signals()}});
  const auto needs = union_of_needs(rules);
  ASSERT_EQ(needs.size(), 2U);
  EXPECT_EQ(needs[0].collection.name, "gradients");
  EXPECT_TRUE(needs[0].collection.keep->statistics);
  EXPECT_TRUE(needs[0].collection.keep->hash);
  EXPECT_FALSE(needs[0].collection.keep->values);
  EXPECT_EQ(needs[0].rule_ids, (std::vector<std::string>{"Needy", "Needy-2"}));
  EXPECT_EQ(needs[1].rule_ids, std::vector<std::string>{"Needy-2"});
}

TEST(CaptureNeedsTest, OtherStepsOrOtherTensorsStayApart) {
  Collection mine = need_statistics("mine");
  mine.include = {"a"};
  Collection yours = need_statistics("mine");
  yours.include = {"b"};
  const auto rules = rules_that_need({{need_statistics("weights", 1), need_values("weights", 100), mine, yours}});
  EXPECT_EQ(union_of_needs(rules).size(), 4U);
}

TEST(CaptureNeedsTest, NoNeedsNoPlan) {
  EXPECT_TRUE(union_of_needs(rules_that_need({{}})).empty());
  EXPECT_EQ(encode_needs({}), "[]");
}

TEST(CaptureNeedsTest, EveryBuiltInRuleThatCanBeMadeFromItsDefaultsSaysWhatItNeeds) {
  for (const RuleKind& kind : builtin_rules()) {
    const auto rule = create_rule({kind.description.name, {}});
    if (!rule.ok()) continue;  // it needs to be given the tensors
    for (const Collection& need : (*rule)->needs()) {
      EXPECT_FALSE(need.name.empty()) << kind.description.name;
      EXPECT_TRUE(need.save.has_value() && need.keep.has_value()) << kind.description.name << ": " << need.name;
    }
  }
}

}  // namespace
}  // namespace trainwarden::rules
