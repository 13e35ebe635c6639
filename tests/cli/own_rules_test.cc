// Rules of one's own on the command line: text, and shared objects as a user builds them.
#include "cli_harness.h"

namespace trainwarden::testing_cli {
namespace {

using OwnRules = CliTest;

const std::string kC = TW_RULES_IN_C;
const std::string kCpp = TW_RULES_IN_CPP;

TEST_F(OwnRules, ALineOfText) {
  train("sick", {"--vanish-at", "10"});
  const Outcome outcome =
      cli({"check", "sick", "--rule", "Vanished: l2(gradient/*) == 0 for 3 steps as error", "--json"});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
  const auto verdict = outcome.json().at("verdicts").at(0);
  EXPECT_EQ(verdict.at("id"), "Vanished");
  EXPECT_EQ(verdict.at("step"), 12);
  EXPECT_EQ(verdict.at("severity"), "error");
}

TEST_F(OwnRules, AFaultInTheTextIsShown) {
  train("healthy");
  const Outcome outcome = cli({"check", "healthy", "--rule", "l3(gradient/*) > 3"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("\n  l3(gradient/*) > 3\n  ^^"), std::string::npos) << outcome.err;
}

TEST_F(OwnRules, InC) {
  train("healthy");
  EXPECT_EQ(cli({"check", "healthy", "--rule", kC + ":LossAbove:limit=1e9"}).exit_code, 0);
  const Outcome outcome = cli({"check", "healthy", "--rule", kC + "::limit=-1e9", "--json"});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
  const auto verdict = outcome.json().at("verdicts").at(0);
  EXPECT_EQ(verdict.at("message"), "The loss is above its limit.");
  EXPECT_EQ(verdict.at("evidence").at(0).at("threshold"), -1e9);
}

TEST_F(OwnRules, InCpp) {
  train("healthy");
  const Outcome outcome = cli({"check", "healthy", "--rule", kCpp + ":NormJump:factor=1e9", "--json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err << outcome.out;
  EXPECT_EQ(outcome.json().at("rules").at(0).at("status"), "NoIssuesFound");
}

TEST_F(OwnRules, WhatCannotBeMadeSaysWhy) {
  train("healthy");
  const std::vector<std::pair<std::string, std::string>> kFaults = {
      {kC + ":LossAbove:limit=much", "expected a number, found \"much\""},
      {kC + ":LossAbove:limt=1", "did you mean \"limit\"?"},
      {kC + ":LossAbov", "it has LossAbove"},
      {kCpp, "several rules, and none was named; it has NormJump, Crashes, Spins"},
      {kCpp + ":NormJump:factor=0", "expected a number above 1"},
      {"./no_such.so:Rule", "no such file"},
  };
  for (const auto& [rule, part] : kFaults) {
    const Outcome outcome = cli({"check", "healthy", "--rule", rule});
    EXPECT_EQ(outcome.exit_code, 2) << rule;
    EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
  }
  const Outcome no_object =
      shell("cd " + folder_.string() + "; echo nothing > x.so; $TW check healthy --rule ./x.so:Rule");
  EXPECT_EQ(no_object.exit_code, 2);
  EXPECT_NE(no_object.err.find("cannot be loaded"), std::string::npos) << no_object.err;
}

TEST_F(OwnRules, OneThatCrashesIsParkedAndTheOthersGoOn) {
  train("sick", {"--vanish-at", "10"});
  const Outcome outcome = cli({"check", "sick", "--rule", kCpp + ":Crashes", "--rule", "VanishingGradient", "--json"});
  const auto rules = outcome.json().at("rules");
  EXPECT_EQ(rules.at(0).at("status"), "Error");
  const std::string details = rules.at(0).at("details");
  EXPECT_NE(details.find("ended by signal 6"), std::string::npos) << details;
  EXPECT_NE(details.find("about to crash"), std::string::npos) << details;
  EXPECT_EQ(rules.at(1).at("status"), "IssuesFound");
}

TEST_F(OwnRules, ADryRunSaysWhatWouldBeLookedAt) {
  train("healthy");
  const std::vector<std::string> rules = {"--rule",          "l2(gradient/*) > 3 every 5 steps", "--rule", kC, "--rule",
                                          "l2(@no_such) > 1"};
  std::vector<std::string> command = {"check", "healthy", "--dry-run", "--json"};
  command.insert(command.end(), rules.begin(), rules.end());
  const Outcome outcome = cli(command);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto views = outcome.json().at("rules");
  const auto need = views.at(0).at("needs").at(0);
  EXPECT_EQ(need.at("needs"), "statistics every 5 steps");
  EXPECT_EQ(need.at("tensors").at(0), "gradient/conv0.weight");
  EXPECT_GT(need.at("steps"), 0);
  EXPECT_EQ(views.at(1).at("needs").at(0).at("collection"), "losses");
  EXPECT_EQ(views.at(2).at("needs").at(0).at("missing"), "nothing of it was captured");
  const Outcome without_run = cli({"check", "--dry-run", "--rule", "l2(gradient/*) > 3"});
  EXPECT_EQ(without_run.exit_code, 0) << without_run.err;
  EXPECT_NE(without_run.out.find("statistics at every step"), std::string::npos) << without_run.out;
  EXPECT_EQ(cli({"check", "--rule", "l2(gradient/*) > 3"}).exit_code, 2);
}

TEST_F(OwnRules, TheHostIsNotForPeople) {
  const Outcome outcome = shell("exec 3<&-; $TW rule-host");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("not by hand"), std::string::npos);
  EXPECT_EQ(cli({"--help"}).out.find("rule-host"), std::string::npos);
}

}  // namespace
}  // namespace trainwarden::testing_cli
