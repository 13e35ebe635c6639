#include "react/network/webhook_action.h"

#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <test_paths.h>

#include "react/network/http_client.h"
#include "react/network/network_testing.h"

namespace trainwarden::network {
namespace {

using actions::ActionOutcome;
using actions::Secret;

constexpr const char* kSecret = "whsec_c2VjcmV0IG9mIHRoZSB0ZXN0cyE=";

class Webhook : public ActionFixture {
 protected:
  std::string url(const exchange::TestServer& server, const std::string& path) const {
    return "http://localhost:" + server.port() + path;
  }

  ActionOutcome send(const std::string& url, Parameters more = {}) {
    more["url"] = one(url);
    const auto action = make("webhook", std::move(more));
    return action == nullptr ? ActionOutcome() : action->run(notice(), {});
  }

  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(file(name)) << content;
    return file(name);
  }

  Secret variable(const std::string& value) {
    ::setenv("TW_TEST_SECRET", value.c_str(), 1);
    return Secret::in_environment("TW_TEST_SECRET");
  }

  // The program of the documents that verifies signatures; it writes the events that it takes to the file "taken".
  std::unique_ptr<exchange::TestServer> verifier(const std::string& secret) {
    ::setenv("WEBHOOK_SECRET", secret.c_str(), 1);
    return std::make_unique<exchange::TestServer>(std::vector<std::string>{
        TW_PYTHON, TW_SOURCE_DIR "/docs/guide/verify_webhook.py", "--port", "0", "--append", file("taken")});
  }
  std::size_t taken() const {
    std::ifstream lines(file("taken"));
    std::size_t count = 0;
    for (std::string line; std::getline(lines, line);) ++count;
    return count;
  }
};

TEST_F(Webhook, SendsTheWholeEventWithToken) {
  const exchange::TestServer server("http_server.py", file("record"));
  Parameters parameters{{"token", Secret::in_file(write("token", "t0ken\n"))},
                        {"headers", std::vector<std::string>{"X-Team: vision", "x-other:a:b"}}};
  const ActionOutcome outcome = send(url(server, "/ok"), parameters);
  EXPECT_EQ(outcome.kind, Kind::kDone) << outcome.status.to_string();
  EXPECT_EQ(outcome.answer, "204");
  const auto received = server.received();
  ASSERT_EQ(received.size(), 1U);
  EXPECT_EQ(received[0]["body"], notice().document);
  const auto& headers = received[0]["headers"];
  EXPECT_EQ(headers["content-type"], "application/cloudevents+json");
  EXPECT_EQ(headers["authorization"], "Bearer t0ken");
  EXPECT_EQ(headers["x-team"], "vision");
  EXPECT_EQ(headers["x-other"], "a:b");
  EXPECT_FALSE(headers.contains("webhook-signature"));
  EXPECT_FALSE(headers.contains("ce-id"));
}

TEST_F(Webhook, SendsBinaryMode) {
  const exchange::TestServer server("http_server.py", file("record"));
  EXPECT_EQ(send(url(server, "/ok"), {{"mode", one("binary")}}).kind, Kind::kDone);
  const auto received = server.received();
  ASSERT_EQ(received.size(), 1U);
  EXPECT_EQ(received[0]["body"], R"({"seq":7,"name":"Größe"})");
  EXPECT_EQ(received[0]["headers"]["content-type"], "application/json");
  EXPECT_EQ(received[0]["headers"]["ce-id"], "run1-7");
  EXPECT_EQ(received[0]["headers"]["ce-specversion"], "1.0");
  EXPECT_EQ(received[0]["headers"]["ce-subject"], "Vanishing%20%22Gr%C3%B6%C3%9Fe%22%20100%25");
}

TEST_F(Webhook, SendsTheEnvelopeOfEventBridgeAsItIs) {
  const exchange::TestServer server("http_server.py", file("record"));
  actions::EventNotice bridge = notice();
  bridge.document = R"({"detail-type":"x","detail":{}})";
  bridge.content_type = "application/json";
  EXPECT_EQ(make("webhook", {{"url", one(url(server, "/ok"))}})->run(bridge, {}).kind, Kind::kDone);
  EXPECT_EQ(server.received().at(0)["body"], bridge.document);
  EXPECT_EQ(server.received().at(0)["headers"]["content-type"], "application/json");
  const auto binary = make("webhook", {{"url", one(url(server, "/ok"))}, {"mode", one("binary")}});
  EXPECT_EQ(binary->run(bridge, {}).kind, Kind::kGiveUp);
  EXPECT_EQ(server.received().size(), 1U);
}

TEST_F(Webhook, KnowsWhatAnswersMean) {
  const exchange::TestServer server("http_server.py", file("record"));
  const std::map<int, Kind> kinds{
      {200, Kind::kDone},     {202, Kind::kDone},     {302, Kind::kGiveUp},     {304, Kind::kGiveUp},
      {400, Kind::kGiveUp},   {401, Kind::kGiveUp},   {403, Kind::kGiveUp},     {404, Kind::kGiveUp},
      {408, Kind::kTryAgain}, {409, Kind::kGiveUp},   {410, Kind::kTargetGone}, {413, Kind::kGiveUp},
      {415, Kind::kGiveUp},   {425, Kind::kTryAgain}, {429, Kind::kTryAgain},   {500, Kind::kTryAgain},
      {502, Kind::kTryAgain}, {503, Kind::kTryAgain}, {599, Kind::kTryAgain}};
  for (const auto& [status, kind] : kinds) {
    const ActionOutcome outcome = send(url(server, "/status/" + std::to_string(status)));
    EXPECT_EQ(outcome.kind, kind) << status;
    EXPECT_EQ(outcome.answer, std::to_string(status));
    EXPECT_EQ(outcome.status.ok(), kind == Kind::kDone) << status;
  }
  EXPECT_EQ(send(url(server, "/redirect")).kind, Kind::kGiveUp);
  EXPECT_NE(send(url(server, "/redirect")).status.message().find("not followed"), std::string::npos);
  for (const char* path : {"/retry-after/429/3", "/retry-after/503/3"}) {
    EXPECT_EQ(send(url(server, path)).retry_after, std::chrono::milliseconds(3000)) << path;
  }
}

TEST_F(Webhook, TriesAgainWhenThereIsNoAnswer) {
  const exchange::TestServer server("http_server.py", file("record"));
  for (const char* path : {"/close", "/garbage", "/headers", "/hang"}) {
    EXPECT_EQ(send(url(server, path), {{"timeout", one("500ms")}}).kind, Kind::kTryAgain) << path;
  }
  EXPECT_EQ(send("http://localhost:1/").kind, Kind::kTryAgain);
  std::stop_source source;
  source.request_stop();
  EXPECT_EQ(make("webhook", {{"url", one(url(server, "/hang"))}})->run(notice(), source.get_token()).kind,
            Kind::kTryAgain);
}

TEST_F(Webhook, GivesUpAForbiddenAddress) {
  const ActionOutcome outcome = send("https://169.254.169.254/latest/hidden");
  EXPECT_EQ(outcome.kind, Kind::kGiveUp);
  EXPECT_EQ(outcome.status.message().find("hidden"), std::string::npos);
}

TEST_F(Webhook, TrustsOnlyTheCaFileAndTriesAgainWhenItDoesNotTrust) {
  ASSERT_TRUE(exchange::make_certificates(folder_.path()));
  const exchange::TestServer server("http_server.py", file("record"),
                                    {"--cert", file("server.pem"), "--key", file("server.key")});
  const std::string target = "https://localhost:" + server.port() + "/ok";
  EXPECT_EQ(send(target, {{"ca_file", one(file("other_ca.pem"))}}).kind, Kind::kTryAgain);
  EXPECT_EQ(send(target).kind, Kind::kTryAgain);
  EXPECT_TRUE(server.received().empty());
  EXPECT_EQ(send(target, {{"ca_file", one(file("ca.pem"))}}).kind, Kind::kDone);
  EXPECT_EQ(server.received().size(), 1U);
}

TEST_F(Webhook, IsVerifiedByTheProgramOfTheDocuments) {
  const auto server = verifier(kSecret);
  const Parameters signed_with{{"secret", variable(kSecret)}};
  for (const char* mode : {"structured", "binary"}) {
    Parameters parameters = signed_with;
    parameters["mode"] = one(mode);
    const ActionOutcome outcome = send(url(*server, "/"), parameters);
    EXPECT_EQ(outcome.kind, Kind::kDone) << outcome.status.to_string();
  }
  EXPECT_EQ(taken(), 1U);  // the second had the same id, so it was not handled again
}

TEST_F(Webhook, IsRefusedWithAnotherSecretOrNone) {
  const auto server = verifier(kSecret);
  EXPECT_EQ(send(url(*server, "/"), {{"secret", variable("whsec_YW5vdGhlciBzZWNyZXQ=")}}).answer, "401");
  EXPECT_EQ(send(url(*server, "/")).answer, "401");
  EXPECT_EQ(taken(), 0U);
}

TEST_F(Webhook, SignsWithTheNewSecretAndTheOldOne) {
  const auto knows_old = verifier("the-old-one");
  Parameters both{{"secret", variable("the-new-one")}, {"old_secret", Secret::in_file(write("old", "the-old-one"))}};
  EXPECT_EQ(send(url(*knows_old, "/"), both).answer, "204");
  both.erase("old_secret");
  EXPECT_EQ(send(url(*knows_old, "/"), both).answer, "401");
}

TEST_F(Webhook, IsRefusedWhenItIsOld) {
  const auto server = verifier(kSecret);
  for (const int seconds : {-600, 600}) {
    const FakeClock clock(system_clock().unix_ns() + seconds * 1'000'000'000LL);
    clock_ = &clock;
    EXPECT_EQ(send(url(*server, "/"), {{"secret", variable(kSecret)}}).answer, "401") << seconds;
  }
  EXPECT_EQ(taken(), 0U);
}

TEST_F(Webhook, IsRefusedWhenAByteWasChanged) {
  const exchange::TestServer recorder("http_server.py", file("record"));
  ASSERT_EQ(send(url(recorder, "/ok"), {{"secret", variable(kSecret)}}).kind, Kind::kDone);
  const auto server = verifier(kSecret);
  const auto received = recorder.received().at(0);
  PostRequest replay;
  replay.target = *parse_target_url(url(*server, "/"), false);
  const std::vector<std::string> names{"webhook-id", "webhook-timestamp", "webhook-signature"};
  const auto replay_with = [&](const std::string& changed) {
    replay.body = received["body"];
    replay.headers.clear();
    for (const std::string& name : names) {
      std::string value = received["headers"][name];
      if (name == changed) value.back() = value.back() == '0' ? '1' : '0';
      replay.headers.emplace_back(name, value);
    }
    if (changed == "body") replay.body[replay.body.size() / 2] ^= 1;
    return post(replay, {}, {})->status;
  };
  for (const std::string changed : {"body", "webhook-id", "webhook-timestamp", "webhook-signature"}) {
    EXPECT_EQ(replay_with(changed), 401) << changed;
  }
  EXPECT_EQ(taken(), 0U);
  EXPECT_EQ(replay_with(""), 204);
  EXPECT_EQ(taken(), 1U);
}

TEST_F(Webhook, KeepsTheIdWhenItIsSentAgain) {
  const exchange::TestServer server("http_server.py", file("record"));
  FakeClock clock;
  clock_ = &clock;
  const auto action = make("webhook", {{"url", one(url(server, "/ok"))}, {"secret", variable(kSecret)}});
  action->run(notice(), {});
  clock.advance_ns(60'000'000'000);
  action->run(notice(), {});
  const auto received = server.received();
  ASSERT_EQ(received.size(), 2U);
  EXPECT_EQ(received[0]["headers"]["webhook-id"], received[1]["headers"]["webhook-id"]);
  EXPECT_EQ(received[0]["headers"]["webhook-timestamp"], "1700000000");
  EXPECT_EQ(received[1]["headers"]["webhook-timestamp"], "1700000060");
}

// A server that sends back what it got, errors of every kind, and no secret in anything that people see.
TEST_F(Webhook, ShowsNoSecret) {
  const exchange::TestServer server("http_server.py", file("record"));
  ::setenv("TW_TEST_URL", url(server, "/echo/hidden-path?key=hidden").c_str(), 1);
  const Secret url_secret = Secret::in_environment("TW_TEST_URL");
  Parameters parameters{{"url", url_secret},
                        {"token", Secret::in_file(write("token", "hidden-token"))},
                        {"secret", variable("hidden-secret")}};
  const auto action = make("webhook", parameters);
  std::string all;
  const std::string base = "http://localhost:" + server.port();
  for (const std::string& target :
       {base + "/echo/hidden", base + "/close/hidden", base + "/redirect?hidden", base + "/garbage?hidden",
        std::string("http://localhost:1/hidden"), std::string("ftp://localhost/hidden"), std::string("hidden hidden"),
        std::string("https://hidden:hidden@localhost/"), std::string("https://169.254.169.254/hidden")}) {
    ::setenv("TW_TEST_URL", target.c_str(), 1);
    const ActionOutcome outcome = action->run(notice(), {});
    EXPECT_NE(outcome.kind, Kind::kDone) << target;
    all += shown(*action, outcome);
  }
  write("token", "hidden\r\nX-Injected: hidden");
  ::setenv("TW_TEST_URL", (base + "/ok").c_str(), 1);
  all += shown(*action, action->run(notice(), {}));
  write("token", "");
  all += shown(*action, action->run(notice(), {}));
  ::setenv("TW_TEST_SECRET", "whsec_hidden!", 1);
  all += shown(*action, action->run(notice(), {}));
  EXPECT_EQ(all.find("hidden"), std::string::npos) << all;
  EXPECT_EQ(logged().find("hidden"), std::string::npos) << logged();
  EXPECT_EQ(action->place(), "the URL in $TW_TEST_URL");
  for (const auto& line : server.received()) EXPECT_FALSE(line["headers"].contains("x-injected"));
}

TEST_F(Webhook, ReadsSecretsAnewAndWaitsForOneThatIsNotThere) {
  const exchange::TestServer server("http_server.py", file("record"));
  const auto action = make("webhook", {{"url", one(url(server, "/ok"))}, {"token", Secret::in_file(file("token"))}});
  const ActionOutcome waiting = action->run(notice(), {});
  EXPECT_EQ(waiting.kind, Kind::kTryAgain);
  EXPECT_NE(waiting.status.message().find(file("token")), std::string::npos);
  EXPECT_TRUE(server.received().empty());
  for (const std::string token : {"first", "second"}) {
    write("token", token);
    EXPECT_EQ(action->run(notice(), {}).kind, Kind::kDone);
    EXPECT_EQ(server.received().back()["headers"]["authorization"], "Bearer " + token);
  }
}

TEST_F(Webhook, RefusesParametersThatCannotBe) {
  const auto refuse = [&](Parameters parameters) {
    parameters.try_emplace("url", one("https://handler.example/hidden"));
    const auto action = try_make("webhook", std::move(parameters));
    EXPECT_FALSE(action.ok());
    EXPECT_EQ(action.status().code(), Code::kInvalidArgument);
    EXPECT_EQ(action.status().message().find("hidden"), std::string::npos) << action.status().message();
    return action.status().message();
  };
  EXPECT_NE(refuse({{"url", one("http://handler.example/hidden")}}).find("allow_http"), std::string::npos);
  EXPECT_NE(refuse({{"url", std::vector<std::string>{}}}).find("url"), std::string::npos);
  EXPECT_NE(refuse({{"token", one("hidden")}}).find("token"), std::string::npos);
  EXPECT_NE(refuse({{"timeout", one("1ms")}}).find("timeout"), std::string::npos);
  EXPECT_NE(refuse({{"mode", one("binry")}}).find("binary"), std::string::npos);
  EXPECT_NE(refuse({{"ca_file", one("/nowhere/ca.pem")}}).find("ca_file"), std::string::npos);
  EXPECT_NE(refuse({{"old_secret", variable("x")}}).find("old_secret"), std::string::npos);
  EXPECT_NE(refuse({{"urll", one("x")}}).find("url"), std::string::npos);
  for (const char* header : {"Authorization: hidden", "Host: x", "ce-id: 1", "webhook-id: 1", "Content-Type: x",
                             "no colon hidden", ": hidden", "X-A: a\r\nX-B: hidden"}) {
    EXPECT_NE(refuse({{"headers", one(header)}}).find("headers: "), std::string::npos) << header;
  }
  EXPECT_TRUE(try_make("webhook", {{"url", one("http://handler.example/")}, {"allow_http", one("true")}}).ok());
}

}  // namespace
}  // namespace trainwarden::network
