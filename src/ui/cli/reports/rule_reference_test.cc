#include "ui/cli/reports/rule_reference.h"

#include <fstream>
#include <iterator>

#include <gtest/gtest.h>
#include <test_paths.h>

namespace trainwarden::cli {
namespace {

std::vector<RuleDescription> all_descriptions() {
  std::vector<RuleDescription> all;
  for (const RuleKind& kind : builtin_rules()) all.push_back(kind.description);
  return all;
}

TEST(RuleReference, TheDocumentIsWhatTheProgramMakes) {
  std::ifstream file(TW_SOURCE_DIR "/docs/reference/builtin-rules.md");
  const std::string document((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_TRUE(document == rule_reference(all_descriptions()))
      << "make it anew: trainwarden rules --markdown > docs/reference/builtin-rules.md";
}

TEST(RuleReference, EveryRuleSaysWhatItIsAboutAndWhereItComesFrom) {
  for (const RuleDescription& rule : all_descriptions()) {
    EXPECT_FALSE(rule.topic.empty()) << rule.name;
    EXPECT_FALSE(rule.details.empty()) << rule.name;
    EXPECT_FALSE(rule.source.empty()) << rule.name;
    for (const RuleParameter& parameter : rule.parameters) EXPECT_FALSE(parameter.description.empty()) << rule.name;
  }
}

TEST(RuleReference, AConsequenceIsARule) {
  const auto all = all_descriptions();
  for (const RuleDescription& rule : all) {
    for (const std::string& consequence : rule.consequences) {
      const bool known =
          std::any_of(all.begin(), all.end(), [&](const auto& other) { return other.name == consequence; });
      EXPECT_TRUE(known && consequence != rule.name) << rule.name << " explains " << consequence;
    }
  }
}

}  // namespace
}  // namespace trainwarden::cli
