// docs/reference/rules.md speaks of every rule, parameter, default, status and outcome that there is.
#include <array>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "trainwarden/rule.h"

namespace trainwarden {
namespace {

class RulesDocument : public ::testing::Test {
 protected:
  RulesDocument() {
    std::ifstream file(TW_SOURCE_DIR "/docs/reference/rules.md");
    std::ostringstream text;
    text << file.rdbuf();
    text_ = text.str();
  }
  bool has(const std::string& part) const { return text_.find(part) != std::string::npos; }

  // From the rule's heading to the next one.
  std::string section(const std::string& rule) const {
    const std::size_t start = text_.find("\n## " + rule + "\n");
    if (start == std::string::npos) return "";
    return text_.substr(start, text_.find("\n## ", start + 1) - start);
  }

  std::string text_;
};

TEST_F(RulesDocument, HasARowForEachParameter) {
  for (const RuleKind& kind : builtin_rules()) {
    const std::string text = section(kind.description.name);
    EXPECT_FALSE(text.empty()) << "no section \"## " << kind.description.name << "\"";
    for (const RuleParameter& parameter : kind.description.parameters) {
      const std::string value = parameter.default_value.empty() ? "(none)" : "`" + parameter.default_value + "`";
      const std::string row = "| `" + parameter.name + "` | " + value + " | ";
      EXPECT_NE(text.find(row), std::string::npos) << kind.description.name << " has no row \"" << row << "\"";
    }
  }
}

TEST_F(RulesDocument, HasEveryStatusAndOutcome) {
  for (const auto status :
       {RuleStatus::kInProgress, RuleStatus::kIssuesFound, RuleStatus::kNoIssuesFound, RuleStatus::kStopping,
        RuleStatus::kStopped, RuleStatus::kError, RuleStatus::kNotApplicable}) {
    EXPECT_TRUE(has("| `" + std::string(name(status)) + "` |")) << name(status);
  }
  for (const auto outcome :
       {Outcome::kOk, Outcome::kFired, Outcome::kNotApplicable, Outcome::kInsufficientData, Outcome::kError}) {
    EXPECT_TRUE(has("| `" + std::string(name(outcome)) + "` |")) << name(outcome);
  }
}

}  // namespace
}  // namespace trainwarden
