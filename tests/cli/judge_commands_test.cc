// The commands that judge: rules, check, watch.
#include <algorithm>
#include <chrono>
#include <thread>

#include <signal.h>

#include "cli_harness.h"

namespace trainwarden::testing_cli {
namespace {

using JudgeCommands = CliTest;

TEST_F(JudgeCommands, RulesListParametersAndDefaults) {
  const auto rules = cli({"rules", "--json"}).json().at("rules");
  std::vector<std::string> names;
  for (const auto& rule : rules) names.push_back(rule.at("name"));
  for (const char* name : {"VanishingGradient", "ExplodingTensor", "LossNotDecreasing"}) {
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
  }
  const Outcome one = cli({"rules", "vanishinggradient"});
  EXPECT_EQ(one.exit_code, 0);
  EXPECT_NE(one.out.find("threshold"), std::string::npos);
  EXPECT_EQ(one.out.find("ExplodingTensor"), std::string::npos);
  EXPECT_EQ(cli({"rules", "Vanishing"}).exit_code, 2);
}

TEST_F(JudgeCommands, CheckOfAHealthyRunIsFine) {
  train("healthy");
  const Outcome outcome =
      cli({"check", "healthy", "--rule", "VanishingGradient", "--rule", "ExplodingTensor", "--json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto answer = outcome.json();
  for (const auto& rule : answer.at("rules")) EXPECT_EQ(rule.at("status"), "NoIssuesFound") << rule;
  EXPECT_TRUE(answer.at("verdicts").empty());
}

TEST_F(JudgeCommands, CheckFindsWhatIsWrongAndShowsTheEvidence) {
  train("sick", {"--vanish-at", "10"});
  const Outcome outcome = cli({"check", "sick", "--rule", "VanishingGradient", "--json"});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
  const auto verdict = outcome.json().at("verdicts").at(0);
  EXPECT_EQ(verdict.at("step"), 10);
  EXPECT_EQ(verdict.at("evidence").at(0).at("tensor"), "gradient/conv0.weight");
  const Outcome text = cli({"check", "sick", "--rule", "VanishingGradient"});
  EXPECT_NE(text.out.find("VanishingGradient fired at step 10 (train 10)"), std::string::npos) << text.out;
}

TEST_F(JudgeCommands, ParametersReachTheRule) {
  train("healthy");
  EXPECT_EQ(cli({"check", "healthy", "--rule", "VanishingGradient:threshold=1000"}).exit_code, 3);
}

TEST_F(JudgeCommands, CheckLeavesTheRunAsItIs) {
  train("sick", {"--vanish-at", "3"});
  cli({"check", "sick", "--rule", "VanishingGradient"});
  EXPECT_FALSE(std::filesystem::exists(run_path("sick") / "journal" / "watch-0"));
}

TEST_F(JudgeCommands, ARuleOnWhatWasNotCapturedSaysSo) {
  train("healthy");
  const Outcome outcome = cli({"check", "healthy", "--rule", "VanishingGradient:collection_names=biases", "--json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto rule = outcome.json().at("rules").at(0);
  EXPECT_EQ(rule.at("status"), "NotApplicable");
  EXPECT_NE(rule.at("details").get<std::string>().find("captured"), std::string::npos) << rule;
}

TEST_F(JudgeCommands, ABadRuleIsWrongUsageAndNamesTheNearest) {
  train("healthy");
  for (const char* command : {"check", "watch"}) {
    const Outcome unknown = cli({command, "healthy", "--rule", "VanishingGradent"});
    EXPECT_EQ(unknown.exit_code, 2);
    EXPECT_NE(unknown.err.find("VanishingGradient"), std::string::npos) << unknown.err;
    const Outcome parameter = cli({command, "healthy", "--rule", "VanishingGradient:treshold=1"});
    EXPECT_EQ(parameter.exit_code, 2);
    EXPECT_NE(parameter.err.find("threshold"), std::string::npos) << parameter.err;
  }
  EXPECT_EQ(cli({"check", "healthy"}).exit_code, 2) << "a rule is required";
}

TEST_F(JudgeCommands, WatchOfAFinishedRunJudgesAllOfIt) {
  train("sick", {"--vanish-at", "10"});
  const Outcome outcome = cli({"watch", "sick", "--rule", "VanishingGradient", "--json"});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
  EXPECT_EQ(outcome.json().at("run_ended"), true);
  EXPECT_EQ(outcome.json().at("journal"), "watch-0");
  EXPECT_NE(outcome.err.find("rules: 0 ok, VanishingGradient FIRED"), std::string::npos) << outcome.err;
  const auto rule = cli({"show", "sick", "--json"}).json().at("rules").at(0);
  EXPECT_EQ(rule.at("status"), "IssuesFound");
  EXPECT_EQ(rule.at("verdicts").at(0).at("step"), 10);
  EXPECT_EQ(cli({"ls", "--json"}).json().at("runs").at(0).at("rules_fired"), 1);
}

TEST_F(JudgeCommands, WatchStopsALiveTraining) {
  setenv("TRAINWARDEN_RUN_DIR", run_path("live").c_str(), 1);
  Background training({tiny_training().string(), "--until-stopped", "--vanish-at", "20"}, folder_);
  const Outcome watch = cli({"watch", "live", "--wait", "--rule", "VanishingGradient", "--on-fire", "stop", "--json"});
  const Outcome ended = training.wait();
  EXPECT_EQ(watch.exit_code, 3) << watch.err;
  EXPECT_EQ(watch.json().at("stop_requested"), true);
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(cli({"show", "live", "--json"}).json().at("state"), "stopped");
}

TEST_F(JudgeCommands, CtrlCEndsTheWatchAndLeavesTheTrainingAlone) {
  setenv("TRAINWARDEN_RUN_DIR", run_path("live").c_str(), 1);
  Background training({tiny_training().string(), "--until-stopped"}, folder_);
  Background watch(cli_command({"watch", "live", "--wait", "--rule", "ExplodingTensor"}), folder_);
  while (!std::filesystem::exists(run_path("live") / "journal" / "watch-0" / "writer.lock")) {
    ASSERT_EQ(kill(training.id(), 0), 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  kill(watch.id(), SIGINT);
  const Outcome outcome = watch.wait();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("Stopped"), std::string::npos) << outcome.out;
  EXPECT_EQ(cli({"show", "live", "--json"}).json().at("state"), "running");
}

TEST_F(JudgeCommands, WatchOfAnUnknownRunFailsUnlessItMayWait) {
  EXPECT_EQ(cli({"watch", "nothing", "--rule", "ExplodingTensor"}).exit_code, 1);
}

}  // namespace
}  // namespace trainwarden::testing_cli
