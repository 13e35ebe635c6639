#include "react/delivery/named_rules.h"

#include <gtest/gtest.h>

namespace trainwarden::delivery {
namespace {

using Words = std::vector<std::string>;

Words texts_of(const Wire& wire) {
  Words texts;
  for (const NamedRule& named : named_rules(wire)) texts.push_back(named.text);
  return texts;
}

Wire on_event(std::string pattern) {
  Wire wire;
  wire.event = std::move(pattern);
  return wire;
}

TEST(NamedRulesTest, ThoseOfRule) {
  Wire wire;
  wire.rules = {"VanishingGradient", "*", "*Gradient"};
  EXPECT_EQ(texts_of(wire), (Words{"VanishingGradient", "*Gradient"}));
}

TEST(NamedRulesTest, ThoseThatAPatternAsksForInEitherFormat) {
  EXPECT_EQ(texts_of(on_event(R"({"data": {"change": {"rule": ["A", {"equals-ignore-case": "b"}]}}})")),
            (Words{"A", "b"}));
  EXPECT_EQ(texts_of(on_event(R"({"detail": {"DebugRuleEvaluationStatuses": {"RuleConfigurationName":
                                  [{"wildcard": "C*"}, {"exactly": "D"}]}}})")),
            (Words{"C*", "D"}));
  EXPECT_EQ(texts_of(on_event(R"({"data": {"$or": [{"change": {"rule": ["A"]}},
                                                   {"change": {"$or": [{"rule": ["B"]}]}}]}})")),
            (Words{"A", "B"}));
}

TEST(NamedRulesTest, WhatAPatternExcludesOrOnlyBeginsWithNamesNone) {
  EXPECT_EQ(texts_of(on_event(R"({"data": {"change": {"rule": [{"anything-but": "A"}, {"prefix": "Va"}]}}})")),
            Words());
  EXPECT_EQ(texts_of(on_event(R"({"data": {"rule": ["not where events have a rule"]}})")), Words());
  EXPECT_EQ(texts_of(on_event("no pattern")), Words());
}

TEST(NamedRulesTest, ANameMeansARuleAsItsSubscriptionWould) {
  const Words ids = {"VanishingGradient", "my_rule"};
  EXPECT_TRUE(names_one_of({"vanishing_gradient", false}, ids));
  EXPECT_TRUE(names_one_of({"*Gradient", false}, ids));
  EXPECT_TRUE(names_one_of({"VanishingGradient-3", false}, ids));
  EXPECT_TRUE(names_one_of({"my_rule", true}, ids));
  EXPECT_FALSE(names_one_of({"vanishing_gradient", true}, ids)) << "a plain text of a pattern never matches this id";
  EXPECT_FALSE(names_one_of({"NaNLoss", false}, ids));
  EXPECT_FALSE(names_one_of({"Nan*", false}, ids));
}

}  // namespace
}  // namespace trainwarden::delivery
