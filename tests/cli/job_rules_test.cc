// The rules of a job: a log and a status of each, also in the job's own log, on the way and after it.
#include <csignal>
#include <fstream>
#include <iterator>

#include <signal.h>

#include "job_harness.h"

namespace trainwarden::testing_cli {
namespace {

std::size_t lines_with(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

class JobRuleLogs : public Jobs {
 protected:
  nlohmann::json rule(const std::string& job, const std::string& id) const {
    const nlohmann::json rules = describe(job).at("rules");
    for (const nlohmann::json& one : rules) {
      if (one.at("rule") == id) return one;
    }
    return {{"status", "not there"}};
  }
  std::string rule_log(const std::string& job, const std::string& id) const {
    return job_command("logs", job, {"--rule", id}).out;
  }
};

constexpr const char* kRules = "rules = ['VanishingGradient', 'ExplodingTensor', 'DeadRelu']\n";

TEST_F(JobRuleLogs, EachRuleHasALogAndAStatusAtAPlaceThatStays) {
  ASSERT_EQ(submit(training("first", "'--vanish-at', '5'", kRules)).exit_code, 0);
  const Outcome followed = job_command("logs", "first", {"-f"});
  EXPECT_EQ(followed.exit_code, 0) << followed.err;
  EXPECT_NE(followed.out.find("trainwarden: rules InProgress: VanishingGradient, ExplodingTensor, DeadRelu\n"),
            std::string::npos)
      << followed.out;
  EXPECT_NE(followed.out.find("trainwarden: rules IssuesFound: VanishingGradient\n"), std::string::npos);
  EXPECT_NE(followed.out.find("trainwarden: rules NoIssuesFound: ExplodingTensor\n"), std::string::npos);

  const nlohmann::json fired = rule("first", "VanishingGradient");
  EXPECT_EQ(fired.at("status"), "IssuesFound");
  EXPECT_EQ(fired.at("step"), 5);
  EXPECT_EQ(fired.at("alerts"), 1);
  EXPECT_EQ(rule("first", "ExplodingTensor").at("step"), nullptr);
  const nlohmann::json nothing = rule("first", "DeadRelu");
  EXPECT_EQ(nothing.at("status"), "NotApplicable");
  EXPECT_NE(nothing.at("details").get<std::string>().find("no relu output was captured"), std::string::npos);

  const std::string log = rule_log("first", "VanishingGradient");
  EXPECT_EQ(lines_with(log, "\n"), 3u) << log;
  EXPECT_LT(log.find("  InProgress  "), log.find("  Alert  VanishingGradient fired at step 5 (train 5): 1 of 1"));
  EXPECT_NE(log.find("  IssuesFound  "), std::string::npos);
  std::ifstream file(fired.at("log").get<std::string>());
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), log);
  EXPECT_NE(
      job_command("describe", "first").out.find("VanishingGradient  IssuesFound         1     5  fired at step 5"),
      std::string::npos)
      << job_command("describe", "first").out;
  EXPECT_NE(job_command("files", "first").out.find("rules/VanishingGradient.log"), std::string::npos);
}

TEST_F(JobRuleLogs, AReportLiesAmongTheJobsOutputsAndIsWrittenAnew) {
  ASSERT_EQ(submit(training("profiled", "'--exit', '3'", "rules = ['ProfilerReport']\n"), {"--wait"}).exit_code, 1);
  const std::filesystem::path report =
      jobs() / "profiled/rule-output/ProfilerReport/profiler-output/profiler-report.json";
  const nlohmann::json first = nlohmann::json::parse(read_file(report));
  EXPECT_GT(first.at("steps").at("count"), 0);
  EXPECT_NE(job_command("logs", "profiled").out.find("trainwarden: rule output: "), std::string::npos);
  EXPECT_EQ(job_command("resume", "profiled", {"--wait"}).exit_code, 1);
  const nlohmann::json second = nlohmann::json::parse(read_file(report));
  EXPECT_GT(second.at("run").at("to_unix_ms"), first.at("run").at("to_unix_ms"));
  ASSERT_EQ(submit(training("plain", "'--steps', '3'", "rules = ['DeadRelu']\n"), {"--wait"}).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(jobs() / "plain/rule-output"));
}

TEST_F(JobRuleLogs, AnotherAttemptGoesOnInTheSameLogs) {
  ASSERT_EQ(submit(training("twice", "'--exit', '3'", kRules), {"--wait"}).exit_code, 1);
  EXPECT_EQ(job_command("resume", "twice", {"--wait"}).exit_code, 1);
  const std::string log = rule_log("twice", "ExplodingTensor");
  EXPECT_EQ(lines_with(log, "  InProgress  "), 2u) << log;
  EXPECT_EQ(lines_with(log, "  NoIssuesFound  "), 2u) << log;
}

TEST_F(JobRuleLogs, ARuleOfAJobThatIsKilledIsInProgressNoMore) {
  ASSERT_EQ(submit(training("killed", "'--until-stopped'", kRules)).exit_code, 0);
  await([&] { return rule("killed", "ExplodingTensor").at("status") == "InProgress"; });
  std::ifstream lease(jobs() / "killed" / "agent.lease");
  ASSERT_EQ(::kill(nlohmann::json::parse(lease).at("pid").get<pid_t>(), SIGKILL), 0);
  await_status("killed", "Failed");
  EXPECT_EQ(rule("killed", "ExplodingTensor").at("status"), "Stopped");
}

TEST_F(JobRuleLogs, ARuleThatFailsSaysWhy) {
  const std::string crashes = std::string(TW_RULES_IN_CPP) + ":Crashes";
  ASSERT_EQ(submit(training("broken", "'--steps', '10'", "rules = ['" + crashes + "']\n"), {"--wait"}).exit_code, 0);
  const nlohmann::json failed = describe("broken").at("rules").at(0);
  EXPECT_EQ(failed.at("status"), "Error");
  EXPECT_NE(failed.at("details").get<std::string>().find("signal"), std::string::npos) << failed;
  EXPECT_NE(rule_log("broken", failed.at("rule")).find("  Error  "), std::string::npos);
}

TEST_F(JobRuleLogs, AProgramThatCapturesNothingIsNoSuccessOfItsRules) {
  ASSERT_EQ(submit(std::string("name = 'blind'\nprogram = 'true'\n") + kRules, {"--wait"}).exit_code, 0);
  const nlohmann::json nothing = rule("blind", "VanishingGradient");
  EXPECT_EQ(nothing.at("status"), "NotApplicable");
  EXPECT_NE(nothing.at("details").get<std::string>().find("captured nothing"), std::string::npos);
  EXPECT_NE(job_command("logs", "blind").out.find("rules NotApplicable: VanishingGradient"), std::string::npos);
}

// A job's folder may be anybody's.
TEST_F(JobRuleLogs, WhatAFolderSaysOfRulesDrivesNoTerminalAndLeadsNowhere) {
  ASSERT_EQ(submit("name = 'plain'\nprogram = 'true'\nhook = false\n", {"--wait"}).exit_code, 0);
  const std::filesystem::path rules = jobs() / "plain" / "rules";
  std::filesystem::create_directories(rules);
  const nlohmann::json evil = {{"rule", "Evil"},
                               {"status", "\x1b[31mred"},
                               {"details", "\x1b]0;title\x07"},
                               {"changed_unix_ns", 1},
                               {"alerts", 1},
                               {"step", 5},
                               {"newest_unix_ns", 1},
                               {"log_is_full", false}};
  std::ofstream(rules / "Evil.json") << evil;
  std::ofstream(folder_ / "secret") << "a secret";
  std::filesystem::create_symlink(folder_ / "secret", rules / "Evil.log");
  for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--json"}}) {
    const Outcome described = job_command("describe", "plain", more);
    EXPECT_NE(described.out.find("Evil"), std::string::npos) << described.err;
    EXPECT_EQ(described.out.find('\x1b'), std::string::npos);
  }
  EXPECT_EQ(job_command("logs", "plain", {"--rule", "Evil"}).out, "");
  EXPECT_EQ(job_command("files", "plain").out.find("Evil"), std::string::npos);
}

TEST_F(JobRuleLogs, ARuleThatIsNotThereIsAnError) {
  ASSERT_EQ(submit(training("first", "'--steps', '3'", "rules = ['ExplodingTensor']\n"), {"--wait"}).exit_code, 0);
  const Outcome wrong = job_command("logs", "first", {"--rule", "ExplodingTensors"});
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_NE(wrong.err.find("did you mean \"ExplodingTensor\""), std::string::npos) << wrong.err;
  EXPECT_EQ(job_command("logs", "first", {"-f", "--rule", "Nothing"}).exit_code, 1);
  EXPECT_EQ(job_command("logs", "first", {"--rule", "ExplodingTensor", "--agent"}).exit_code, 2);
  ASSERT_EQ(submit("name = 'plain'\nprogram = 'true'\nhook = false\n", {"--wait"}).exit_code, 0);
  EXPECT_TRUE(describe("plain").at("rules").empty());
  EXPECT_FALSE(std::filesystem::exists(jobs() / "plain" / "rules"));
}

}  // namespace
}  // namespace trainwarden::testing_cli
