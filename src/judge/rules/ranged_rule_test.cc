#include "judge/rules/ranged_rule.h"

#include <gtest/gtest.h>

#include "judge/rules/builtin/rule_testing.h"
#include "judge/rules/registry.h"

namespace trainwarden::rules {
namespace {

using Steps = std::vector<std::int64_t>;

const std::vector<std::string> kGradients = {"gradients"};

TestRun vanished_run(std::int64_t steps) {
  TestRun run;
  for (std::int64_t step = 0; step < steps; ++step) run.add({.step = step, .tensors = {kept("g", {0, 0}, kGradients)}});
  return run;
}

TEST(RangedRule, JudgesFromItsFirstStepUpToItsEnd) {
  const auto verdicts = judge(vanished_run(6), "VanishingGradient:start_step=2,end_step=4");
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{2, 3}));
  EXPECT_EQ(steps_with(verdicts, Outcome::kNotApplicable), (Steps{0, 1, 4, 5}));
  EXPECT_NE(verdicts.at(5).message.find("before 4"), std::string::npos) << verdicts.at(5).message;
}

TEST(RangedRule, OneEndAloneAndTheServicesNoneDo) {
  EXPECT_EQ(steps_with(judge(vanished_run(4), "VanishingGradient:start_step=3"), Outcome::kFired), (Steps{3}));
  EXPECT_EQ(steps_with(judge(vanished_run(4), "VanishingGradient:end_step=1"), Outcome::kFired), (Steps{0}));
  EXPECT_EQ(steps_with(judge(vanished_run(2), "VanishingGradient:start_step=0,end_step=None"), Outcome::kFired),
            (Steps{0, 1}));
}

TEST(RangedRule, NeedsTheSameAsWithoutARange) {
  const auto ranged = create_rule(*parse_rule_spec("VanishingGradient:start_step=3"));
  const auto whole = create_rule(*parse_rule_spec("VanishingGradient"));
  ASSERT_TRUE(ranged.ok());
  ASSERT_EQ((*ranged)->needs().size(), (*whole)->needs().size());
  EXPECT_EQ((*ranged)->needs().at(0).name, "gradients");
}

TEST(RangedRule, TheRunThatTheServiceNamesIsPassedOver) {
  for (const RuleKind& kind : builtin_rules()) {
    EXPECT_TRUE(check_declared(kind, "base_trial").ok()) << kind.description.name;
  }
  EXPECT_EQ(steps_with(judge(vanished_run(2), "VanishingGradient:base_trial=first"), Outcome::kFired), (Steps{0, 1}));
}

TEST(RangedRule, BadValues) {
  EXPECT_EQ(create_rule({"VanishingGradient", {{"start_step", "soon"}}}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(create_rule({"VanishingGradient", {{"end_step", "-1"}}}).status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace trainwarden::rules
