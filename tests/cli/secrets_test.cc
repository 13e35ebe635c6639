// Secrets go where they are meant to go and nowhere else: not into a file of the run, not into what any command prints,
// not into a log at its most talkative, even when targets refuse, redirect, and throw them back.
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli_harness.h"
#include "core/exchange/server_testing.h"

namespace trainwarden::testing_cli {
namespace {

using exchange::TestServer;
using nlohmann::json;

// No text of ours is like these. A part of one would be as bad as the whole.
const std::map<std::string, std::string> kSecrets = {
    {"token", "tk-Zq81xwVbN0"}, {"signing", "whsec_c2lnbmluZy1RNzdYMg=="},
    {"url", "u-9dKpQ2mWzz"},    {"password", "pw-3hVt7Yq0Lr"},
    {"slack", "s-T0XB4cW8nK2"},
};

class Secrets : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    web_ = std::make_unique<TestServer>("http_server.py", folder_ / "web.jsonl");
    mail_ = std::make_unique<TestServer>(
        "smtp_server.py", folder_ / "mail.jsonl",
        std::vector<std::string>{"--user", "warden", "--password", kSecrets.at("password")});
    setenv("TRAINWARDEN_LOG_LEVEL", "debug", 1);
    setenv("TEST_TOKEN", kSecrets.at("token").c_str(), 1);
    setenv("TEST_URL", url("/ok?key=" + kSecrets.at("url")).c_str(), 1);
    setenv("TEST_ECHO_URL", url("/echo?key=" + kSecrets.at("url")).c_str(), 1);
    setenv("TEST_SLACK_URL", url("/slack/404/no_service?key=" + kSecrets.at("slack")).c_str(), 1);
    std::ofstream(folder_ / "signing.secret") << kSecrets.at("signing") << "\n";
    std::ofstream(folder_ / "password.secret") << kSecrets.at("password") << "\n";
    std::ofstream(folder_ / "wrong.secret") << kSecrets.at("password") << "-but-wrong\n";
  }
  void TearDown() override {
    for (const char* name : {"TRAINWARDEN_LOG_LEVEL", "TEST_TOKEN", "TEST_URL", "TEST_ECHO_URL", "TEST_SLACK_URL"}) {
      unsetenv(name);
    }
    CliTest::TearDown();
  }

  std::string url(const std::string& path) const { return "http://127.0.0.1:" + web_->port() + path; }
  std::string secret_file(const std::string& name) const { return (folder_ / (name + ".secret")).string(); }

  std::string webhook(const std::string& name, const std::string& target) const {
    return fmt::format(
        "[[on]]\nname = \"{}\"\nevent = {{ specversion = [\"1.0\"] }}\ndo = \"webhook\"\nurl = {}\n"
        "token = {{ env = \"TEST_TOKEN\" }}\nsecret = {{ file = \"{}\" }}\n"
        "retry.max_attempts = 2\nretry.first_delay = \"10ms\"\n\n",
        name, target, secret_file("signing"));
  }
  std::string mail(const std::string& name, const std::string& password) const {
    return fmt::format(
        "[[on]]\nname = \"{}\"\ndo = \"mail\"\nto = \"team@example.com\"\nfrom = \"warden@example.com\"\n"
        "host = \"127.0.0.1\"\nport = \"{}\"\nsecurity = \"none\"\nuser = \"warden\"\npassword = {{ file = \"{}\" }}\n"
        "retry.max_attempts = 2\nretry.first_delay = \"10ms\"\n\n",
        name, mail_->port(), secret_file(password));
  }

  std::filesystem::path write_actions() const {
    std::string text = webhook("taken", R"({ env = "TEST_URL" })");
    text += webhook("thrown-back", R"({ env = "TEST_ECHO_URL" })");
    text += webhook("redirected", fmt::format("\"{}\"", url("/redirect")));
    text += webhook("refused", "\"http://127.0.0.1:1/nobody\"");
    text += webhook("garbled", fmt::format("\"{}\"", url("/garbage")));
    text += mail("mailed", "password");
    text += mail("not-mailed", "wrong");
    text +=
        "[[on]]\nname = \"chat\"\ndo = \"slack\"\nurl = { env = \"TEST_SLACK_URL\" }\n"
        "retry.max_attempts = 2\nretry.first_delay = \"10ms\"\n";
    std::ofstream(folder_ / "actions.toml") << text;
    return folder_ / "actions.toml";
  }

  // Whether they would leak can only be told when they were used.
  void expect_used() const {
    std::string all;
    for (const json& request : web_->received()) all += request.dump();
    EXPECT_NE(all.find("Bearer " + kSecrets.at("token")), std::string::npos);
    EXPECT_NE(all.find("webhook-signature"), std::string::npos);
    EXPECT_NE(all.find(kSecrets.at("url")), std::string::npos);
    EXPECT_NE(all.find(kSecrets.at("slack")), std::string::npos);
    ASSERT_FALSE(mail_->received().empty());
    EXPECT_EQ(mail_->received().front().at("user"), "warden");
  }

  std::unique_ptr<TestServer> web_;
  std::unique_ptr<TestServer> mail_;
};

void expect_none(const std::string& text, const std::string& where) {
  for (const auto& [name, secret] : kSecrets) {
    EXPECT_EQ(text.find(secret), std::string::npos) << "the " << name << " is in " << where;
  }
  // As a mail server is told the password: "\0warden\0pw-...", in base 64.
  EXPECT_EQ(text.find("AHdhcmRlbgBwdy0zaFZ0N1lxMExy"), std::string::npos) << "the password is in " << where;
}

TEST_F(Secrets, AreNowhereButWhereTheyAreMeantToGo) {
  const std::filesystem::path actions = write_actions();
  const Outcome run = cli({"run", "--name", "secretive", "--rule", "VanishingGradient", "--actions", actions, "--",
                           tiny_training(), "--vanish-at", "20", "--steps", "60"});
  ASSERT_EQ(run.exit_code, 3) << run.err;
  // Those that failed are tried again, with something to say about it.
  const Outcome delivered = cli({"events", "deliver", "secretive", "--actions", actions});
  expect_used();

  expect_none(run.out + run.err, "what `run` prints");
  expect_none(delivered.out + delivered.err, "what `events deliver` prints");
  const std::vector<std::vector<std::string>> commands = {
      {"describe", "secretive"},
      {"describe", "secretive", "--json"},
      {"events", "secretive"},
      {"events", "secretive", "--json"},
      {"events", "secretive", "--raw"},
      {"events", "deliveries", "secretive"},
      {"events", "deliveries", "secretive", "--json"},
      {"show", "secretive", "--json"},
      {"rules", "secretive", "--json"},
      {"ls", "--json"},
      {"doctor", "secretive", "--json"},
  };
  for (const std::vector<std::string>& command : commands) {
    const Outcome outcome = cli(command);
    EXPECT_FALSE(outcome.out.empty()) << outcome.err;
    expect_none(outcome.out + outcome.err, "what `" + command[0] + "` prints");
  }
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(run_path("secretive"))) {
    if (!entry.is_regular_file()) continue;
    expect_none(read_file(entry.path()), entry.path());
    ++files;
  }
  EXPECT_GT(files, 3);
}

// A mistake in the configuration is told with the place of a secret, not with the secret.
TEST_F(Secrets, AreInNoErrorAboutTheActions) {
  const std::vector<std::string> wires = {"webhook:url=env:TEST_TOKEN",
                                          "webhook:url=" + url("/ok") + ",tokn=env:TEST_TOKEN",
                                          "webhook:url=" + url("/ok") + ",token=" + kSecrets.at("token")};
  for (const std::string& wire : wires) {
    const Outcome outcome = cli({"run", "--rule", "VanishingGradient", "--on-fire", wire, "--", "true"});
    expect_none(outcome.out + outcome.err, wire.substr(0, wire.find('=')));
  }
}

}  // namespace
}  // namespace trainwarden::testing_cli
