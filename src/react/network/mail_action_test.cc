#include "react/network/mail_action.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <test_paths.h>

#include "react/network/network_testing.h"

namespace trainwarden::network {
namespace {

using actions::ActionOutcome;
using actions::Secret;

class Mail : public ActionFixture {
 protected:
  void SetUp() override {
    ASSERT_TRUE(exchange::make_certificates(folder_.path()));
    ::setenv("TW_TEST_PASSWORD", "hidden-password", 1);
  }

  // A server with `security`, that wants the login bob when `login`.
  exchange::TestServer server(const std::string& security, bool login = false,
                              const std::string& certificate = "server") const {
    std::vector<std::string> arguments{"--security", security};
    if (security != "none") {
      arguments.insert(arguments.end(), {"--cert", file(certificate + ".pem"), "--key", file(certificate + ".key")});
    }
    if (login) arguments.insert(arguments.end(), {"--user", "bob", "--password", "hidden-password"});
    return exchange::TestServer("smtp_server.py", file("record"), arguments);
  }

  Parameters to(const exchange::TestServer& server, std::vector<std::string> recipients = {"ops@host.example"}) const {
    return {{"host", one("localhost")},
            {"port", one(server.port())},
            {"from", one("trainwarden@host.example")},
            {"to", std::move(recipients)},
            {"ca_file", one(file("ca.pem"))}};
  }

  static Parameters with(Parameters parameters, const Parameters& more) {
    for (const auto& [name, value] : more) parameters.insert_or_assign(name, value);
    return parameters;
  }

  Parameters bob() const { return {{"user", one("bob")}, {"password", Secret::in_environment("TW_TEST_PASSWORD")}}; }

  ActionOutcome send(const Parameters& parameters) {
    const auto action = make("mail", parameters);
    if (action == nullptr) return {};
    const ActionOutcome outcome = action->run(notice(), {});
    shown_ += shown(*action, outcome);
    return outcome;
  }

  std::string shown_;
};

TEST_F(Mail, IsTakenWithStartTlsAndLogin) {
  const exchange::TestServer mail = server("starttls", true);
  const ActionOutcome outcome = send(with(to(mail, {"ops@host.example", "me@host.example"}), bob()));
  EXPECT_EQ(outcome.kind, Kind::kDone) << outcome.status.to_string();
  EXPECT_EQ(outcome.answer, "250");
  const auto received = mail.received();
  ASSERT_EQ(received.size(), 1U);
  EXPECT_EQ(received[0]["from"], "trainwarden@host.example");
  EXPECT_EQ(received[0]["to"], (std::vector<std::string>{"ops@host.example", "me@host.example"}));
  EXPECT_EQ(received[0]["tls"], true);
  EXPECT_EQ(received[0]["user"], "bob");
  const std::string message = received[0]["message"];
  EXPECT_NE(message.find("\r\nSubject: [trainwarden] first: VanishingGradient fired at step 120\r\n"),
            std::string::npos)
      << message;
  EXPECT_NE(message.find("l2 of <fc.weight> is 1e-9 & falling\r\nTry a higher learning rate.\r\n"), std::string::npos);
  EXPECT_NE(message.find("Run first in /runs/first"), std::string::npos);
  EXPECT_EQ(message.find("specversion"), std::string::npos);
}

TEST_F(Mail, IsTakenWithTlsFromTheFirstByte) {
  const exchange::TestServer mail = server("tls");
  const ActionOutcome outcome = send(with(to(mail), {{"security", one("tls")}, {"attach", one("true")}}));
  EXPECT_EQ(outcome.kind, Kind::kDone) << outcome.status.to_string();
  ASSERT_EQ(mail.received().size(), 1U);
  EXPECT_EQ(mail.received()[0]["tls"], true);
  const std::string message = mail.received()[0]["message"];
  EXPECT_NE(message.find("filename=\"event.json\""), std::string::npos);
  EXPECT_NE(message.find("application/cloudevents+json"), std::string::npos);
}

TEST_F(Mail, IsTakenPlainOnThisMachineOnly) {
  const exchange::TestServer mail = server("none");
  EXPECT_EQ(send(with(to(mail), {{"security", one("none")}})).kind, Kind::kDone);
  EXPECT_EQ(mail.received().size(), 1U);
  const auto far = try_make("mail", with(to(mail), {{"security", one("none")}, {"host", one("mail.example")}}));
  EXPECT_EQ(far.status().code(), Code::kInvalidArgument);
  EXPECT_NE(far.status().message().find("allow_plain"), std::string::npos);
}

TEST_F(Mail, IsNotSentToACertificateThatIsNotTrusted) {
  for (const char* security : {"starttls", "tls"}) {
    for (const char* certificate : {"stranger", "old"}) {
      const exchange::TestServer mail = server(security, true, certificate);
      EXPECT_EQ(send(with(with(to(mail), bob()), {{"security", one(security)}})).kind, Kind::kTryAgain);
      EXPECT_TRUE(mail.received().empty());
    }
    const exchange::TestServer mail = server(security, true);
    Parameters parameters = with(with(to(mail), bob()), {{"security", one(security)}});
    parameters["ca_file"] = one(file("other_ca.pem"));
    EXPECT_EQ(send(parameters).kind, Kind::kTryAgain);
    EXPECT_TRUE(mail.received().empty());
  }
  EXPECT_EQ(shown_.find("hidden"), std::string::npos) << shown_;
}

TEST_F(Mail, IsNotSentPlainToAServerWithoutStartTls) {
  const exchange::TestServer mail = server("none");
  const ActionOutcome outcome = send(to(mail));
  EXPECT_EQ(outcome.kind, Kind::kGiveUp);
  EXPECT_NE(outcome.status.message().find("no STARTTLS"), std::string::npos) << outcome.status.message();
  EXPECT_TRUE(mail.received().empty());
}

TEST_F(Mail, GivesUpAWrongPasswordAndShowsNone) {
  const exchange::TestServer mail = server("starttls", true);
  ::setenv("TW_TEST_PASSWORD", "hidden-wrong", 1);
  const ActionOutcome outcome = send(with(to(mail), bob()));
  EXPECT_EQ(outcome.kind, Kind::kGiveUp);
  EXPECT_NE(outcome.status.message().find("refuses the login: 535 5.7.8"), std::string::npos)
      << outcome.status.message();
  ::unsetenv("TW_TEST_PASSWORD");
  EXPECT_EQ(send(with(to(mail), bob())).kind, Kind::kTryAgain);
  EXPECT_TRUE(mail.received().empty());
  EXPECT_EQ(shown_.find("hidden"), std::string::npos) << shown_;
  EXPECT_EQ(logged().find("hidden"), std::string::npos) << logged();
}

// A server that takes mail from this machine without a login.
TEST_F(Mail, DoesNotLogInWhereNobodyCan) {
  const exchange::TestServer mail = server("none");
  const ActionOutcome outcome = send(with(with(to(mail), bob()), {{"security", one("none")}}));
  EXPECT_EQ(outcome.kind, Kind::kDone) << outcome.status.to_string();
  ASSERT_EQ(mail.received().size(), 1U);
  EXPECT_EQ(mail.received()[0]["user"], "");
}

TEST_F(Mail, TellsWhichRecipientsWereRefused) {
  const exchange::TestServer mail = server("starttls");
  const auto send_to = [&](std::vector<std::string> recipients) { return send(to(mail, std::move(recipients))); };
  const ActionOutcome part = send_to({"gone@host.example", "ops@host.example", "busy@host.example"});
  EXPECT_EQ(part.kind, Kind::kDone) << part.status.to_string();
  EXPECT_EQ(part.answer, "250, but refused for gone@host.example (550 5.1.1), busy@host.example (451 4.7.1)");
  EXPECT_NE(logged().find("gone@host.example (550 5.1.1)"), std::string::npos) << logged();
  ASSERT_EQ(mail.received().size(), 1U);
  EXPECT_EQ(mail.received()[0]["to"], (std::vector<std::string>{"ops@host.example"}));

  const ActionOutcome none = send_to({"gone@host.example", "gone@other.example"});
  EXPECT_EQ(none.kind, Kind::kGiveUp) << none.status.to_string();
  EXPECT_NE(none.status.message().find("gone@other.example (550 5.1.1)"), std::string::npos) << none.status.message();
  EXPECT_EQ(send_to({"gone@host.example", "busy@host.example"}).kind, Kind::kTryAgain);
  EXPECT_EQ(send_to({"busy@host.example", "gone@host.example"}).kind, Kind::kTryAgain);
  EXPECT_EQ(mail.received().size(), 1U);
}

TEST_F(Mail, KnowsWhatAnswersToTheMessageMean) {
  const exchange::TestServer mail = server("starttls");
  const ActionOutcome gone = send(to(mail, {"late-gone@host.example"}));
  EXPECT_EQ(gone.kind, Kind::kGiveUp);
  EXPECT_EQ(gone.answer, "554");
  EXPECT_NE(gone.status.message().find("refuses the message: 554 5.6.0"), std::string::npos) << gone.status.message();
  const ActionOutcome busy = send(to(mail, {"late-busy@host.example"}));
  EXPECT_EQ(busy.kind, Kind::kTryAgain);
  EXPECT_EQ(busy.answer, "452");
  EXPECT_TRUE(mail.received().empty());
}

TEST_F(Mail, TriesAgainWhenTheServerHangsClosesOrIsNotThere) {
  const exchange::TestServer mail = server("starttls");
  EXPECT_EQ(send(to(mail, {"close@host.example"})).kind, Kind::kTryAgain);
  EXPECT_EQ(send(with(to(mail, {"hang@host.example"}), {{"timeout", one("500ms")}})).kind, Kind::kTryAgain);
  EXPECT_EQ(send(with(to(mail), {{"port", one("1")}})).kind, Kind::kTryAgain);
  const exchange::TestServer http("http_server.py", file("http"));
  EXPECT_EQ(send(with(to(http), {{"timeout", one("500ms")}})).kind, Kind::kTryAgain);
}

TEST_F(Mail, LeavesAtOnceWhenAskedTo) {
  const exchange::TestServer mail = server("starttls");
  const auto action = make("mail", with(to(mail, {"hang@host.example"}), {{"timeout", one("1h")}}));
  std::stop_source source;
  ActionOutcome outcome;
  std::thread sender([&] { outcome = action->run(notice(), source.get_token()); });
  source.request_stop();
  sender.join();
  EXPECT_EQ(outcome.kind, Kind::kTryAgain);
  EXPECT_EQ(outcome.status.code(), Code::kCancelled);
}

// Debian's own mail server, which `./dev test` unpacks.
TEST_F(Mail, IsTakenByExim) {
  const std::string root = TW_SOURCE_DIR "/build/mail_server";
  if (!std::filesystem::exists(root + "/usr/sbin/exim4")) {
    GTEST_SKIP() << "exim4 is not in build/mail_server; ./dev test puts it there";
  }
  const std::filesystem::path work = folder_.path() / "exim";
  std::filesystem::create_directory(work);
  const exchange::TestServer exim({TW_PYTHON, TW_SOURCE_DIR "/tests/servers/exim_server.py", "--root", root, "--work",
                                   work, "--cert", file("server.pem"), "--key", file("server.key"), "--user", "bob",
                                   "--password", "hidden-password"});
  const std::vector<std::string> recipients{"ops@host.example", "gone@host.example", "me@host.example"};
  const ActionOutcome outcome = send(with(to(exim, recipients), bob()));
  EXPECT_EQ(outcome.kind, Kind::kDone) << outcome.status.to_string();
  EXPECT_EQ(outcome.answer, "250, but refused for gone@host.example (550)");
  EXPECT_EQ(send(with(to(exim, {"busy@host.example"}), bob())).kind, Kind::kTryAgain);
  EXPECT_EQ(send(to(exim)).kind, Kind::kGiveUp);  // without a login
  ::setenv("TW_TEST_PASSWORD", "hidden-wrong", 1);
  EXPECT_EQ(send(with(to(exim), bob())).kind, Kind::kGiveUp);
  EXPECT_EQ(shown_.find("hidden"), std::string::npos) << shown_;

  std::string spool;
  int messages = 0;
  for (const auto& entry : std::filesystem::directory_iterator(work / "spool" / "input")) {
    std::ifstream in(entry.path());
    spool.append(std::istreambuf_iterator<char>(in), {});
    messages += entry.path().string().ends_with("-D") ? 1 : 0;
  }
  EXPECT_EQ(messages, 1);
  EXPECT_NE(spool.find("Subject: [trainwarden] first: VanishingGradient fired at step 120\n"), std::string::npos);
  EXPECT_NE(spool.find("l2 of <fc.weight> is 1e-9 & falling\n"), std::string::npos) << spool;
  EXPECT_NE(spool.find("\nops@host.example\nme@host.example\n"), std::string::npos);
}

TEST_F(Mail, TakesItsDefaultsFromTheEnvironment) {
  const exchange::TestServer mail = server("starttls", true);
  std::ofstream(file("password")) << "hidden-password\n";
  ::setenv("TRAINWARDEN_SMTP_HOST", "localhost", 1);
  ::setenv("TRAINWARDEN_SMTP_PORT", mail.port().c_str(), 1);
  ::setenv("TRAINWARDEN_SMTP_USER", "bob", 1);
  ::setenv("TRAINWARDEN_SMTP_PASSWORD_FILE", file("password").c_str(), 1);
  ::setenv("TRAINWARDEN_SMTP_FROM", "environment@host.example", 1);
  const Parameters few{{"to", one("ops@host.example")}, {"ca_file", one(file("ca.pem"))}};
  const ActionOutcome outcome = send(few);
  EXPECT_EQ(outcome.kind, Kind::kDone) << outcome.status.to_string();
  EXPECT_EQ(make("mail", few)->place(), "smtp://localhost:" + mail.port());
  ::setenv("TRAINWARDEN_SMTP_SECURITY", "tls", 1);
  EXPECT_EQ(make("mail", few)->place(), "smtps://localhost:" + mail.port());
  ::setenv("TRAINWARDEN_SMTP_PORT", "many", 1);
  EXPECT_EQ(try_make("mail", few).status().code(), Code::kInvalidArgument);
  for (const char* name : {"HOST", "PORT", "USER", "PASSWORD_FILE", "FROM", "SECURITY"}) {
    ::unsetenv(("TRAINWARDEN_SMTP_" + std::string(name)).c_str());
  }
  ASSERT_EQ(mail.received().size(), 1U);
  EXPECT_EQ(mail.received()[0]["from"], "environment@host.example");
  EXPECT_EQ(mail.received()[0]["user"], "bob");
}

TEST_F(Mail, RefusesParametersThatCannotBe) {
  const Parameters good{{"host", one("mail.example")}, {"from", one("a@b.example")}, {"to", one("c@d.example")}};
  ASSERT_TRUE(try_make("mail", good).ok());
  EXPECT_EQ((*try_make("mail", good))->place(), "smtp://mail.example:587");
  EXPECT_EQ((*try_make("mail", with(good, {{"security", one("tls")}})))->place(), "smtps://mail.example:465");
  const auto refuse = [&](const Parameters& more) {
    const auto action = try_make("mail", with(good, more));
    EXPECT_EQ(action.status().code(), Code::kInvalidArgument);
    EXPECT_EQ(action.status().message().find("hidden"), std::string::npos);
    return action.status().message();
  };
  EXPECT_NE(refuse({{"host", one("")}}).find("TRAINWARDEN_SMTP_HOST"), std::string::npos);
  EXPECT_NE(refuse({{"host", one("mail.example/x")}}).find("host"), std::string::npos);
  EXPECT_NE(refuse({{"host", one("user@mail.example")}}).find("host"), std::string::npos);
  EXPECT_NE(refuse({{"to", std::vector<std::string>{}}}).find("to: "), std::string::npos);
  EXPECT_NE(refuse({{"to", one("c@d\r\nRCPT TO:<x@y>")}}).find("to: "), std::string::npos);
  EXPECT_NE(refuse({{"from", one("Ops <a@b>")}}).find("from: "), std::string::npos);
  EXPECT_NE(refuse({{"user", one("bob")}}).find("TRAINWARDEN_SMTP_PASSWORD"), std::string::npos);
  EXPECT_NE(refuse({{"password", one("hidden")}}).find("password"), std::string::npos);
  EXPECT_NE(refuse({{"security", one("ssl")}}).find("starttls"), std::string::npos);
}

}  // namespace
}  // namespace trainwarden::network
