// docs/reference/rules.md speaks of every status and outcome that there is.
#include <array>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <test_paths.h>

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

  std::string text_;
};

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
