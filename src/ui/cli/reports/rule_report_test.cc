#include "ui/cli/reports/rule_report.h"

#include "ui/cli/commands/exit_code.h"

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

namespace trainwarden::cli {
namespace {

rules::RuleStatusRecord status_of(RuleStatus status) {
  rules::RuleStatusRecord record;
  record.rule_id = record.rule = "VanishingGradient";
  record.status = status;
  return record;
}

rules::VerdictRecord fired_verdict() {
  rules::VerdictRecord record;
  record.rule_id = record.rule = "VanishingGradient";
  record.place = {120, Mode::kTrain, 100};
  record.verdict.outcome = Outcome::kFired;
  record.verdict.message = "it vanished";
  record.verdict.evidence = {{"gradient/\x1b[31mfc", "", "abs_mean", 0, 1e-7, 120}};
  return record;
}

std::string printed(const rules::VerdictRecord& verdict) {
  char* text = nullptr;
  std::size_t bytes = 0;
  std::FILE* stream = open_memstream(&text, &bytes);
  print_verdict(stream, verdict);
  std::fclose(stream);
  std::string result(text, bytes);
  std::free(text);
  return result;
}

TEST(RuleReport, DecidesTheExitCode) {
  EXPECT_EQ(exit_code_of(watch::RuleReport{{status_of(RuleStatus::kNoIssuesFound)}, {}}), 0);
  EXPECT_EQ(exit_code_of(watch::RuleReport{{status_of(RuleStatus::kNotApplicable)}, {}}), 0);
  EXPECT_EQ(exit_code_of(watch::RuleReport{{status_of(RuleStatus::kError)}, {}}), 1);
  EXPECT_EQ(exit_code_of(watch::RuleReport{{status_of(RuleStatus::kError)}, {fired_verdict()}}), 3);
}

TEST(RuleReport, NamesFromARunCannotDriveTheTerminal) {
  const std::string text = printed(fired_verdict());
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(text.find("\\x1B"), std::string::npos) << text;
  EXPECT_NE(text.find("VanishingGradient fired at step 120 (train 100)\n  it vanished\n"), std::string::npos) << text;
}

TEST(RuleReport, AVerdictOnTimeHasItsTime) {
  rules::VerdictRecord verdict = fired_verdict();
  verdict.place = {120, Mode::kTrain, 100, 1'700'000'002'000'000'000, 1'700'000'003'000'000'000};
  verdict.verdict.evidence = {{.quantity = "mean",
                               .value = 90,
                               .threshold = 80,
                               .global_step = 120,
                               .metric = "temperature",
                               .unix_ns = 1'700'000'002'900'000'000}};
  const std::string text = printed(verdict);
  EXPECT_NE(text.find("VanishingGradient fired at 2023-11-14 22:13:23 UTC (after step 120 (train 100))"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("METRIC"), std::string::npos) << text;
  EXPECT_NE(text.find("temperature"), std::string::npos) << text;
  EXPECT_NE(text.find("22:13:22"), std::string::npos) << text;
  EXPECT_NE(text.find("--mute 'VanishingGradient:temperature'"), std::string::npos) << text;
}

TEST(RuleReport, JsonHasRulesAndVerdicts) {
  const OrderedJson json = json_of(watch::RuleReport{{status_of(RuleStatus::kIssuesFound)}, {fired_verdict()}});
  EXPECT_EQ(json.at("rules").at(0).at("status"), "IssuesFound");
  EXPECT_EQ(json.at("verdicts").at(0).at("step"), 120);
}

TEST(RuleReport, OnlyWhatAlarmsCounts) {
  watch::RuleReport report{{status_of(RuleStatus::kIssuesFound)}, {fired_verdict()}};
  EXPECT_TRUE(report.any_fired());
  report.fired[0].muted = true;
  EXPECT_FALSE(report.any_fired());
  EXPECT_EQ(exit_code_of(report), kExitFine);
  report.fired[0].muted = false;
  report.fired[0].consequence_of = "NonFiniteOrigin";
  EXPECT_FALSE(report.any_fired());
  EXPECT_NE(fired_text(report.fired[0]).find("which follows from NonFiniteOrigin"), std::string::npos);
}

}  // namespace
}  // namespace trainwarden::cli
