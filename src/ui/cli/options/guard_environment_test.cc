#include "ui/cli/options/guard_environment.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "judge/rules/registry.h"

namespace trainwarden::cli {
namespace {

using Words = std::vector<std::string>;

TEST(DivideRules, EachGoesWhereItCanJudge) {
  const auto places = divide_rules({"ExplodingTensor:only_nan=True", "Hang"});
  ASSERT_TRUE(places.ok()) << places.status().to_string();
  EXPECT_EQ(places->inside, Words{"ExplodingTensor:only_nan=True"});
  EXPECT_EQ(places->beside, Words{"Hang"});
  EXPECT_EQ(divide_rules({"Nonsense"}).status().code(), Code::kInvalidArgument);
}

TEST(DivideRules, OfTheDefaultOnesNoneIsForgotten) {
  const auto places = divide_rules({"default"});
  ASSERT_TRUE(places.ok());
  for (const RuleKind& kind : builtin_rules()) {
    const auto count = [&](const Words& words) {
      return std::count(words.begin(), words.end(), kind.description.name);
    };
    const bool by_default = kind.description.by_default;
    EXPECT_EQ(count(places->inside), by_default && kind.description.in_process ? 1 : 0) << kind.description.name;
    EXPECT_EQ(count(places->beside), by_default && !kind.description.in_process ? 1 : 0) << kind.description.name;
  }
}

TEST(GuardEnvironment, SaysWhatTheAdaptersTake) {
  const auto environment = guard_environment({"ExplodingTensor", "ExplodingTensor:only_nan=True"}, OnFire::kSkipStep);
  ASSERT_TRUE(environment.ok());
  EXPECT_EQ(environment->at("TRAINWARDEN_GUARD_RULES"), "ExplodingTensor\nExplodingTensor:only_nan=True");
  EXPECT_EQ(environment->at("TRAINWARDEN_ON_FIRE"), "skip_step");
  EXPECT_TRUE(guard_environment({}, OnFire::kStop)->empty());
  EXPECT_EQ(guard_environment({"Hang"}, OnFire::kStop).status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace trainwarden::cli
