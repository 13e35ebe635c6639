#include "judge/rules/hosting/hosted_rule.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "judge/rules/engine.h"
#include "read/trial/run_testing.h"

namespace trainwarden::rules {
namespace {

// A file that exists, which is all that is asked of it here.
class HostedRuleTest : public testing::Test {
 protected:
  HostedRuleTest() { std::ofstream(file_).put('\n'); }
  ~HostedRuleTest() override { std::filesystem::remove(file_); }

  // The host is a script that answers the first question with `start`, the second, which is to open the run, with {},
  // and then runs `rest`.
  Result<std::unique_ptr<Rule>> create(const std::string& rest, RuleParameters more = {},
                                       const std::string& start = R"({"needs":[]})") const {
    more.emplace("rule_file", file_.string());
    return create_hosted_rule(
        {"Mine", more},
        {"/bin/bash", "-c", "read -r line <&3; echo '" + start + "' >&3; read -r line <&3; echo '{}' >&3\n" + rest});
  }

  const std::filesystem::path file_ =
      std::filesystem::temp_directory_path() / ("tw_rules_" + std::to_string(getpid()) + ".py");
};

constexpr const char* kOk =
    R"(while read -r line <&3; do echo '{"outcome":"ok","severity":"info","message":"","advice":"","evidence":[]}' >&3; done)";
constexpr const char* kFired =
    R"(while read -r line <&3; do echo '{"outcome":"fired","severity":"error","message":"m","advice":"a","confidence":0.5,"evidence":[{"tensor":"t","quantity":"q","value":"NaN","threshold":1,"step":0}]}' >&3; done)";

RuleStatusRecord judged(Result<std::unique_ptr<Rule>> rule) {
  EXPECT_TRUE(rule.ok()) << rule.status().message();
  TestRun run;
  run.add_steps(0, 3);
  run.end();
  const auto trial = run.open();
  std::vector<EngineRule> rules;
  rules.push_back({{"Mine", {}}, *std::move(rule)});
  Engine engine(*trial, std::move(rules), {});
  EXPECT_TRUE(engine.poll().ok());
  engine.finish();
  return engine.statuses()[0];
}

TEST_F(HostedRuleTest, AnswersBecomeVerdicts) {
  EXPECT_EQ(judged(create(kOk)).status, RuleStatus::kNoIssuesFound);
  EXPECT_EQ(judged(create(kFired)).status, RuleStatus::kIssuesFound);
}

// Each is parked at its first step, while the rule beside it judges to the end.
TEST_F(HostedRuleTest, WhatFailsIsParkedAndTheOthersGoOn) {
  const RuleParameters impatient = {{"host.time_limit", "0.2"}};
  const RuleParameters small = {{"host.memory_limit", "0.05"}};
  struct Fault {
    const char* script;
    RuleParameters parameters;
    const char* message;
  };
  const std::vector<Fault> kFaults = {
      {"read -r line <&3; exit 3", {}, "exit code 3"},
      {"read -r line <&3; kill -SEGV $$", {}, "signal 11"},
      {"read -r line <&3; x=aaaaaaaa; while true; do x=$x$x; done", small, "of memory"},
      {"read -r line <&3; echo garbage >&3; sleep 100", {}, "answer"},
      {"read -r line <&3; echo '{}' >&3; sleep 100", {}, "outcome"},
      {"read -r line <&3; head -c 100 /dev/urandom >&3; echo >&3; sleep 100", {}, "answer"},
      {"read -r line <&3; printf half >&3", {}, "exit code 0"},
  };
  for (const Fault& fault : kFaults) {
    TestRun run;
    run.add_steps(0, 3);
    run.end();
    const auto trial = run.open();
    std::vector<EngineRule> rules;
    auto failing = create(fault.script, fault.parameters);
    auto healthy = create(kOk);
    ASSERT_TRUE(failing.ok() && healthy.ok());
    rules.push_back({{"Failing", {}}, *std::move(failing)});
    rules.push_back({{"Healthy", {}}, *std::move(healthy)});
    Engine engine(*trial, std::move(rules), {});
    ASSERT_TRUE(engine.poll().ok());
    engine.finish();
    const auto statuses = engine.statuses();
    EXPECT_EQ(statuses[0].status, RuleStatus::kError) << fault.script;
    EXPECT_NE(statuses[0].details.find(fault.message), std::string::npos) << statuses[0].details;
    EXPECT_EQ(statuses[1].status, RuleStatus::kNoIssuesFound) << fault.script;
    EXPECT_EQ(statuses[1].outcomes[static_cast<std::size_t>(Outcome::kOk)], 4U);
  }
  // To open the run takes its time; to judge a step must not.
  const std::string judging_hangs =
      R"(read -r line <&3; echo '{"outcome":"ok","severity":"info","message":"","advice":"","evidence":[]}' >&3; while true; do :; done)";
  const RuleStatusRecord status = judged(create(judging_hangs, impatient));
  EXPECT_EQ(status.status, RuleStatus::kError);
  EXPECT_NE(status.details.find("took longer than 0.2 s"), std::string::npos) << status.details;
}

TEST_F(HostedRuleTest, TellsWhatItNeeds) {
  const auto rule =
      create(kOk, {}, R"({"needs":[{"name":"gradients","include":["^g"],"every":5,"keep":["statistics","hash"]}]})");
  ASSERT_TRUE(rule.ok()) << rule.status().message();
  const auto needs = (*rule)->needs();
  ASSERT_EQ(needs.size(), 1U);
  EXPECT_EQ(needs[0].name, "gradients");
  EXPECT_EQ(needs[0].include, std::vector<std::string>{"^g"});
  EXPECT_EQ(needs[0].save, SavePolicy::every(5));
  EXPECT_EQ(needs[0].keep, (KeepForm{.values = false, .statistics = true, .hash = true}));
}

TEST_F(HostedRuleTest, WhatTheHostRefusesIsSaid) {
  for (const char* start : {R"({"error":"no such rule"})", "{}", "nonsense", R"({"needs":[1]})",
                            R"({"needs":[{"name":"a","include":[],"every":1,"keep":["pixels"]}]})"}) {
    const auto rule = create(kOk, {}, start);
    EXPECT_FALSE(rule.ok()) << start;
  }
  EXPECT_NE(create(kOk, {}, R"({"error":"no such rule"})").status().message().find("no such rule"), std::string::npos);
  EXPECT_FALSE(create(kOk, {{"host.time_limit", "soon"}}).ok());
  EXPECT_FALSE(create(kOk, {{"host.memory_limit", "0"}}).ok());
  EXPECT_EQ(create_hosted_rule({"Mine", {{"rule_file", "no/such/file.py"}}}).status().code(), Code::kInvalidArgument);
}

TEST(ParseHostedSpec, FileNameAndParameters) {
  const auto full = parse_hosted_spec("./a/my_rules.so:MyRule:threshold=3,b=\"x,y\"");
  ASSERT_TRUE(full.ok()) << full.status().message();
  EXPECT_EQ(full->name, "MyRule");
  EXPECT_EQ(
      full->parameters,
      (RuleParameters{{"rule_file", "./a/my_rules.so"}, {"rule_name", "MyRule"}, {"threshold", "3"}, {"b", "x,y"}}));
  EXPECT_EQ(parse_hosted_spec("my_rules.py")->name, "my_rules");
  EXPECT_EQ(parse_hosted_spec("my_rules.py:threshold=3")->parameters,
            (RuleParameters{{"rule_file", "my_rules.py"}, {"threshold", "3"}}));
  EXPECT_EQ(parse_hosted_spec("my_rules.py::threshold=3")->parameters,
            (RuleParameters{{"rule_file", "my_rules.py"}, {"threshold", "3"}}));
  EXPECT_EQ(parse_rule_spec("my_rules.py:MyRule")->name, "MyRule");
  EXPECT_FALSE(parse_hosted_spec("my_rules.py:MyRule:threshold").ok());
  EXPECT_FALSE(parse_hosted_spec("my_rules.py:MyRule:a=1,a=2").ok());
}

TEST(ParseHostedSpec, OnlyFilesOfRules) {
  for (const char* text : {"a.py", "a.so:B", "c:/x.py:B", "x.py:B:c=d.py"}) EXPECT_TRUE(names_rule_file(text)) << text;
  for (const char* text : {"VanishingGradient", "A:b=c", "l2(x) > 3", "", "A:b=c.py", "l2(a.so:b) > 1"})
    EXPECT_FALSE(names_rule_file(text)) << text;
}

}  // namespace
}  // namespace trainwarden::rules
