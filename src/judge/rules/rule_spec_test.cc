#include <gtest/gtest.h>

#include "trainwarden/rule.h"

namespace trainwarden {
namespace {

bool contains(const Status& status, std::string_view part) {
  return status.message().find(part) != std::string::npos;
}

TEST(ParseRuleSpec, NamesInAnyWriting) {
  for (const char* text : {"VanishingGradient", "vanishinggradient", "vanishing_gradient", "vanishing-gradient"}) {
    const auto spec = parse_rule_spec(text);
    ASSERT_TRUE(spec.ok()) << text;
    EXPECT_EQ(spec->name, "VanishingGradient");
  }
}

TEST(ParseRuleSpec, Parameters) {
  const auto spec = parse_rule_spec("VanishingGradient:threshold=1e-6,collection_names=\"gradients,more\"");
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ(spec->parameters, (RuleParameters{{"threshold", "1e-6"}, {"collection_names", "gradients,more"}}));
}

TEST(ParseRuleSpec, AnUnknownRuleNamesTheNearest) {
  const Status status = parse_rule_spec("vanishing_gradiant").status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_TRUE(contains(status, "did you mean \"VanishingGradient\"?")) << status.message();
  EXPECT_TRUE(contains(parse_rule_spec("Nothing").status(), "LossNotDecreasing"));
}

TEST(ParseRuleSpec, AnUnknownParameterNamesTheNearest) {
  const Status status = parse_rule_spec("VanishingGradient:treshold=1").status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_TRUE(contains(status, "did you mean \"threshold\"?")) << status.message();
}

TEST(ParseRuleSpec, AParameterGivenTwice) {
  EXPECT_TRUE(contains(parse_rule_spec("VanishingGradient:threshold=1,threshold=2").status(), "twice"));
}

// Rules that judge what the user chooses say what they miss.
TEST(CreateRule, DefaultsOfEveryRuleAreGoodOrSayWhatIsMissing) {
  for (const RuleKind& kind : builtin_rules()) {
    const auto rule = create_rule({kind.description.name, {}});
    const bool must_choose = !rule.ok() && !kind.description.by_default && contains(rule.status(), "give ");
    EXPECT_TRUE(rule.ok() || must_choose) << kind.description.name << ": " << rule.status().to_string();
    EXPECT_FALSE(kind.description.summary.empty());
  }
}

TEST(CreateRule, BadValues) {
  for (const char* text :
       {"VanishingGradient:threshold=small", "VanishingGradient:threshold=-1", "VanishingGradient:min_fraction=1.5",
        "VanishingGradient:collection_names=", "ExplodingTensor:only_nan=perhaps", "ExplodingTensor:tensor_regex=(",
        "LossNotDecreasing:num_steps=0", "LossNotDecreasing:num_steps=1.5", "LossNotDecreasing:mode=trian",
        "LossNotDecreasing:diff_percent=nan", "LossNotDecreasing:use_losses_collection=False"}) {
    const auto spec = parse_rule_spec(text);
    ASSERT_TRUE(spec.ok()) << text;
    const Status status = create_rule(*spec).status();
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << text;
    EXPECT_TRUE(contains(status, spec->name)) << status.message();
  }
}

TEST(CreateRule, ASpecMadeByHandIsChecked) {
  EXPECT_EQ(create_rule({"Nothing", {}}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(create_rule({"VanishingGradient", {{"a", "b"}}}).status().code(), Code::kInvalidArgument);
}

TEST(RuleNames, Texts) {
  EXPECT_EQ(name(Outcome::kNotApplicable), "not_applicable");
  EXPECT_EQ(name(Severity::kWarning), "warning");
  EXPECT_EQ(name(RuleStatus::kNoIssuesFound), "NoIssuesFound");
}

TEST(RuleSpec, ARuleMaySpeakForACauseOfTheDiagnosis) {
  const auto spec = parse_rule_spec("LossSpike:cause=learning_rate_too_high");
  ASSERT_TRUE(spec.ok()) << spec.status().to_string();
  EXPECT_EQ(spec->parameters.at("cause"), "learning_rate_too_high");
  EXPECT_TRUE(create_rule(*spec).ok());
  const auto unknown = create_rule({"LossSpike", {{"cause", "learning_rate_to_high"}}});
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.status().to_string().find("did you mean \"learning_rate_too_high\""), std::string::npos)
      << unknown.status().to_string();
}

}  // namespace
}  // namespace trainwarden
