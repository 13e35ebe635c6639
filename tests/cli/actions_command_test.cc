// The command `actions`: what there is, and files that wire it.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "cli_harness.h"

namespace trainwarden::testing_cli {
namespace {

class ActionsCommand : public CliTest {
 protected:
  std::string file(const std::string& content) const {
    std::ofstream(folder_ / "actions.toml") << content;
    return (folder_ / "actions.toml").string();
  }
  std::string log() const { return (folder_ / "log.jsonl").string(); }
};

TEST_F(ActionsCommand, ListsActionsAndTellsAllAboutOne) {
  const auto actions = cli({"actions", "--json"}).json().at("actions");
  std::vector<std::string> names;
  for (const auto& action : actions) names.push_back(action.at("name"));
  for (const char* name : {"stop", "save", "exec", "file", "webhook", "slack", "mail"}) {
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
  }
  const Outcome one = cli({"actions", "exec"});
  EXPECT_EQ(one.exit_code, 0);
  EXPECT_NE(one.out.find("command"), std::string::npos);
  EXPECT_EQ(one.out.find("webhook"), std::string::npos);
  const Outcome unknown = cli({"actions", "webhok"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.err.find("\"webhook\""), std::string::npos) << unknown.err;
}

TEST_F(ActionsCommand, CheckSaysWhatWouldHappenAndShowsNoSecret) {
  setenv("TW_TEST_URL", "https://hooks.example.com/hidden-token", 1);
  const std::string actions = file(
      "[[on]]\nrule = \"ExplodingTensor\"\ndo = \"stop\"\n"
      "[[on]]\nname = \"ops\"\nrule = \"*\"\ndo = \"webhook\"\nurl = { env = \"TW_TEST_URL\" }\n");
  const Outcome text = cli({"actions", "--check", actions});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_NE(text.out.find("$TW_TEST_URL"), std::string::npos) << text.out;
  const Outcome json = cli({"actions", "--check", actions, "--json"});
  EXPECT_EQ(json.json().at("on").at(0).at("rules").at(0), "ExplodingTensor");
  EXPECT_EQ(json.json().at("secrets").at(0).at("readable"), true);
  EXPECT_EQ((text.out + json.out).find("hidden-token"), std::string::npos);
  unsetenv("TW_TEST_URL");
  EXPECT_EQ(cli({"actions", "--check", actions}).exit_code, 1) << "the secret cannot be read";
}

TEST_F(ActionsCommand, AMistakeInAFileIsWrongUsageWithItsLine) {
  const std::string actions = file("[[on]]\nrule = \"ExplodingTensor\"\ndo = \"stpo\"\n");
  for (const char* option : {"--check", "--test"}) {
    const Outcome outcome = cli({"actions", option, actions});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_NE(outcome.err.find("line"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("\"stop\""), std::string::npos) << outcome.err;
  }
}

TEST_F(ActionsCommand, ATestAlertReachesAllButWhatNeedsATraining) {
  const std::string actions = file(
      "[[on]]\nrule = \"*\"\ndo = \"stop\"\n"
      "[[on]]\nname = \"log\"\nrule = \"ExplodingTensor\"\ndo = \"file\"\npath = \"" +
      log() +
      "\"\n"
      "[[on]]\nname = \"bad\"\nrule = \"*\"\ndo = \"exec\"\ncommand = \"false\"\n");
  const Outcome one = cli({"actions", "--test", actions, "log"});
  EXPECT_EQ(one.exit_code, 0) << one.err;
  const auto alert = nlohmann::json::parse(read_file(log()));
  EXPECT_EQ(alert.at("data").at("test"), true);
  EXPECT_EQ(alert.at("subject"), "ExplodingTensor");
  EXPECT_TRUE(alert.at("id").get<std::string>().starts_with("test-"));

  const Outcome all = cli({"actions", "--test", actions, "--json"});
  EXPECT_EQ(all.exit_code, 1) << "one of them fails";
  const auto tested = all.json().at("tested");
  ASSERT_EQ(tested.size(), 2u) << tested;
  EXPECT_EQ(tested.at(0).at("outcome"), "delivered");
  EXPECT_NE(tested.at(1).at("outcome"), "delivered");

  const Outcome unknown = cli({"actions", "--test", actions, "lgo"});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_NE(unknown.err.find("\"log\""), std::string::npos) << unknown.err;
}

TEST_F(ActionsCommand, ARuleThatNobodyHasIsWrongUsageWithItsLine) {
  const std::string actions = file("[[on]]\nrule = \"NaNLoss\"\ndo = \"stop\"\n");
  for (const char* option : {"--check", "--test"}) {
    const Outcome outcome = cli({"actions", option, actions});
    EXPECT_EQ(outcome.exit_code, 2) << outcome.out;
    EXPECT_NE(outcome.err.find("line 1"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("NaNLoss"), std::string::npos) << outcome.err;
  }
  const std::string own = file("[[on]]\nrule = \"MyRule\"\ndo = \"stop\"\n");
  EXPECT_EQ(cli({"actions", "--check", own}).exit_code, 2);
  EXPECT_EQ(cli({"actions", "--check", own, "--rule", "my_rules.py:MyRule"}).exit_code, 0);
}

TEST_F(ActionsCommand, AFileThatOnlyStopsCannotBeTested) {
  EXPECT_EQ(cli({"actions", "--test", file("[[on]]\nrule = \"*\"\ndo = \"stop\"\n")}).exit_code, 1);
}

}  // namespace
}  // namespace trainwarden::testing_cli
