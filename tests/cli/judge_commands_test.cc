// The commands that judge: rules, check, watch.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
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

TEST_F(JudgeCommands, DiagnoseGoesByTheLossesOfATrainingThatWasNotExamined) {
  train("healthy", {"--steps", "40"});
  const Outcome outcome = cli({"diagnose", "healthy"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("Nothing is wrong as far as 40 recorded losses show"), std::string::npos) << outcome.out;
  const auto answer = cli({"diagnose", "healthy", "--json"}).json();
  EXPECT_TRUE(answer.at("diagnosis").is_null());
  EXPECT_TRUE(answer.at("failure").is_null());
  EXPECT_EQ(answer.at("loss").at("looks"), 40);
  EXPECT_NE(answer.at("missing").at(0).get<std::string>().find("only its losses"), std::string::npos);
  train("short", {"--steps", "3"});
  EXPECT_NE(cli({"diagnose", "short"}).out.find("Nothing can be said"), std::string::npos);
  EXPECT_EQ(cli({"diagnose", "nowhere"}).exit_code, 1);
  const Outcome ended = cli({"diagnose", "healthy", "--examine"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_NE(ended.err.find("has ended"), std::string::npos) << ended.err;
  EXPECT_EQ(cli({"diagnose", "healthy", "--examine", "--timeout", "-1"}).exit_code, 2);
  EXPECT_EQ(cli({"diagnose", "healthy", "--json", "--until", "9"}).json().at("loss").at("looks"), 10);
  EXPECT_EQ(cli({"diagnose", "healthy", "--until", "9", "--examine"}).exit_code, 2);
  EXPECT_EQ(cli({"diagnose", "healthy", "--until", "-1"}).exit_code, 2);
}

TEST_F(JudgeCommands, DiagnoseCallsNothingWrongOnlyWhereNoRuleAlarmed) {
  train("sick", {"--vanish-at", "10", "--steps", "40"});
  ASSERT_EQ(cli({"watch", "sick", "--rule", "VanishingGradient"}).exit_code, 3);
  const Outcome outcome = cli({"diagnose", "sick"});
  EXPECT_EQ(outcome.out.find("Nothing is wrong"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("Something is wrong: see what VanishingGradient found"), std::string::npos) << outcome.out;
  EXPECT_EQ(cli({"diagnose", "sick", "--json"}).json().at("alarms").at(0), "VanishingGradient");
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
  await_file(run_path("live") / "journal" / "watch-0" / "writer.lock");
  kill(watch.id(), SIGINT);
  const Outcome outcome = watch.wait();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("Stopped"), std::string::npos) << outcome.out;
  EXPECT_EQ(cli({"show", "live", "--json"}).json().at("state"), "running");
}

TEST_F(JudgeCommands, WatchOfAnUnknownRunFailsUnlessItMayWait) {
  EXPECT_EQ(cli({"watch", "nothing", "--rule", "ExplodingTensor"}).exit_code, 1);
}

TEST_F(JudgeCommands, RulesOfARunSpeakAsTheServiceDid) {
  train("sick", {"--vanish-at", "10"});
  cli({"watch", "sick", "--rule", "VanishingGradient", "--rule", "ExplodingTensor"});
  const auto rules = cli({"rules", "sick", "--json"}).json();
  ASSERT_EQ(rules.size(), 2U);
  EXPECT_EQ(rules.at(0).at("RuleConfigurationName"), "VanishingGradient");
  EXPECT_EQ(rules.at(0).at("RuleEvaluationStatus"), "IssuesFound");
  EXPECT_EQ(rules.at(0)
                .at("StatusDetails")
                .get<std::string>()
                .find("RuleEvaluationConditionMet: Evaluation of the rule VanishingGradient at step 10 resulted in the "
                      "condition being met\n"),
            0U);
  EXPECT_EQ(rules.at(0).at("Hits").at(0).at("step"), 10);
  EXPECT_EQ(rules.at(0).at("Transitions").at(0).at("Status"), "InProgress");
  EXPECT_EQ(rules.at(1).at("RuleEvaluationStatus"), "NoIssuesFound");
  const Outcome text = cli({"rules", "sick"});
  EXPECT_NE(text.out.find("IssuesFound"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("--mute 'VanishingGradient:gradient/conv0.weight'"), std::string::npos) << text.out;
}

TEST_F(JudgeCommands, WhatIsNeitherARuleNorARunIsWrongUsage) {
  train("healthy");
  const Outcome outcome = cli({"rules", "healty"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("neither a rule nor a run"), std::string::npos) << outcome.err;
}

TEST_F(JudgeCommands, AMutedVerdictIsWrittenDownAndNoReasonToFail) {
  train("sick", {"--vanish-at", "10"});
  const Outcome outcome =
      cli({"watch", "sick", "--rule", "VanishingGradient", "--mute", "VanishingGradient", "--json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.json().at("verdicts").at(0).at("muted"), true);
  EXPECT_EQ(cli({"rules", "sick", "--json"}).json().at(0).at("Hits").at(0).at("muted"), true);
}

TEST_F(JudgeCommands, ThePlanSaysWhatIsCapturedAndWhatItCosts) {
  train("healthy");
  const auto plan = cli({"rules", "--plan", "--rule", "VanishingGradient", "--on", "healthy", "--json"}).json();
  const auto need = plan.at("needs").at(0);
  EXPECT_EQ(need.at("collection"), "gradients");
  EXPECT_EQ(need.at("keep"), "statistics");
  EXPECT_GT(need.at("tensors").get<int>(), 0);
  EXPECT_GT(need.at("ns_per_step").get<double>(), 0);
  EXPECT_GT(plan.at("ns_per_element").at("statistics").get<double>(), 0);
  EXPECT_EQ(cli({"rules", "--plan"}).exit_code, 2) << "of which rules?";
}

TEST_F(JudgeCommands, CheckOfAllInAFolderLeavesOutWhatIsNoRun) {
  train("healthy");
  std::ofstream(runs_ / "healthy.log") << "what the training printed";
  const Outcome outcome = shell("cd " + folder_.string() + " && $TW check runs/* --rule VanishingGradient --json");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.json().at("run"), "healthy");
  EXPECT_NE(outcome.err.find("healthy.log"), std::string::npos) << outcome.err;
  EXPECT_EQ(shell("$TW check " + (runs_ / "healthy.log").string() + " --rule VanishingGradient").exit_code, 1);
}

TEST_F(JudgeCommands, AnActionForARuleThatNobodyHasIsRefused) {
  train("sick", {"--vanish-at", "10"});
  for (const char* action : {"stop:rule=NaNLoss", "stop:event={\"data\": {\"change\": {\"rule\": [\"NaNLoss\"]}}}"}) {
    const Outcome watched = cli({"watch", "sick", "--rule", "VanishingGradient", "--on-fire", action});
    EXPECT_EQ(watched.exit_code, 2) << watched.err;
    EXPECT_NE(watched.err.find("NaNLoss"), std::string::npos) << watched.err;
    const Outcome started =
        cli({"run", "--name", "next", "--rule", "VanishingGradient", "--on-fire", action, "--", "true"});
    EXPECT_EQ(started.exit_code, 2) << started.err;
    EXPECT_EQ(cli({"events", "deliver", "sick", "--on-fire", action}).exit_code, 2);
  }
  EXPECT_FALSE(std::filesystem::exists(run_path("next")));
  const Outcome idle = cli({"watch", "sick", "--rule", "VanishingGradient", "--on-fire", "stop:rule=Hang"});
  EXPECT_NE(idle.err.find("Hang, which does not judge here"), std::string::npos) << idle.err;
}

TEST_F(JudgeCommands, AStarIsNoRuleAndTheSetsAreNamed) {
  const Outcome outcome = cli({"run", "--rule", "*", "--", "true"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("--rules default"), std::string::npos) << outcome.err;
}

TEST_F(JudgeCommands, CheckJudgesManyRunsAndGoesOnWhereItLeftOff) {
  train("healthy");
  train("sick", {"--vanish-at", "10"});
  const std::string results = (folder_ / "verdicts.jsonl").string();
  const std::vector<std::string> command = {"check",     "healthy", "sick",  "--rule", "VanishingGradient",
                                            "--results", results,   "--json"};
  const Outcome first = cli(command);
  EXPECT_EQ(first.exit_code, 3) << first.err;
  ASSERT_EQ(first.json().at("runs").size(), 2U);
  EXPECT_TRUE(first.json().at("runs").at(0).at("verdicts").empty());
  EXPECT_EQ(first.json().at("runs").at(1).at("verdicts").at(0).at("step"), 10);

  // Its journals are gone, and still the answer is there: nothing was judged again.
  std::filesystem::remove_all(run_path("sick") / "journal" / "rank-00000");
  EXPECT_NE(cli(command).out, first.out) << "a run that holds other steps is judged anew";
  const std::string torn = "{\"key\": {\"path\"";
  std::ofstream(results, std::ios::app) << torn;
  const Outcome again = cli({"check", "healthy", "--rule", "VanishingGradient", "--results", results, "--json"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
}

TEST_F(JudgeCommands, ARunThatIsInTheResultsIsNotJudgedAgain) {
  train("sick", {"--vanish-at", "10"});
  const std::string results = (folder_ / "verdicts.jsonl").string();
  const std::vector<std::string> command = {"check",     "sick",  "--rule", "VanishingGradient",
                                            "--results", results, "--json"};
  EXPECT_EQ(cli(command).exit_code, 3);
  // What the file says is what is told.
  std::ifstream file(results);
  std::string line;
  std::getline(file, line);
  file.close();
  const std::size_t place = line.find("have vanished");
  ASSERT_NE(place, std::string::npos) << line;
  line.replace(place, 4, "HAVE");
  std::ofstream(results) << line << "\n";
  const Outcome again = cli(command);
  EXPECT_NE(again.out.find("HAVE vanished"), std::string::npos) << again.out;
  EXPECT_EQ(again.exit_code, 3);
  std::ofstream(results) << "this is no JSON\n{}\n";
  const Outcome damaged = cli(command);
  EXPECT_NE(damaged.exit_code, 3);
  EXPECT_NE(damaged.err.find("line 1 is not JSON"), std::string::npos) << damaged.err;
}

}  // namespace
}  // namespace trainwarden::testing_cli
