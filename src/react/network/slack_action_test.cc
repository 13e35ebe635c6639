#include "react/network/slack_action.h"

#include <string>

#include <gtest/gtest.h>

#include "react/network/network_testing.h"

namespace trainwarden::network {
namespace {

using actions::ActionOutcome;
using actions::Secret;

std::string text_of(const std::string& message) {
  return nlohmann::json::parse(message)["text"];
}

TEST(SlackMessage, EscapesWhatSlackReads) {
  EXPECT_EQ(text_of(slack_message("<!channel> a & b", "<https://x|y>")),
            "&lt;!channel&gt; a &amp; b\n&lt;https://x|y&gt;");
  EXPECT_EQ(nlohmann::json::parse(slack_message("a", ""))["mrkdwn"], false);
  EXPECT_EQ(text_of(slack_message("a", "")), "a");
}

TEST(SlackMessage, MentionsNobody) {
  const std::string text = text_of(slack_message("@channel @all", "@here, mail ops@host.example"));
  for (const char* mention : {"@channel", "@all", "@here"}) EXPECT_EQ(text.find(mention), std::string::npos) << text;
  EXPECT_NE(text.find("ops@host.example"), std::string::npos);
}

TEST(SlackMessage, IsCutOffBetweenCharacters) {
  std::string long_text;
  while (long_text.size() < 2 * kSlackTextLimit) long_text += "ö";
  const std::string text = text_of(slack_message("x", long_text));
  EXPECT_LE(text.size(), kSlackTextLimit + 20);
  EXPECT_NE(text.find("ö\n[cut off here]"), std::string::npos);
  EXPECT_EQ(text_of(slack_message("x", "\xff")), "x\n\xef\xbf\xbd");
}

class Slack : public ActionFixture {};

TEST_F(Slack, PostsAMessage) {
  const exchange::TestServer server("http_server.py", file("record"));
  ::setenv("TW_TEST_URL", ("http://localhost:" + server.port() + "/slack/200/ok?hidden").c_str(), 1);
  const auto action = make("slack", {{"url", Secret::in_environment("TW_TEST_URL")}});
  const ActionOutcome outcome = action->run(notice(), {});
  EXPECT_EQ(outcome.kind, Kind::kDone) << outcome.status.to_string();
  EXPECT_EQ(action->place(), "the URL in $TW_TEST_URL");
  const auto received = server.received();
  ASSERT_EQ(received.size(), 1U);
  EXPECT_EQ(received[0]["headers"]["content-type"], "application/json");
  EXPECT_EQ(text_of(received[0]["body"]),
            "VanishingGradient fired at step 120\nl2 of &lt;fc.weight&gt; is 1e-9 &amp; falling\nTry a higher learning "
            "rate.\nRun first in /runs/first");
}

TEST_F(Slack, TellsWhatSlackSays) {
  const exchange::TestServer server("http_server.py", file("record"));
  const auto send = [&](const std::string& path) {
    const auto action = make("slack", {{"url", one("http://localhost:" + server.port() + path)}});
    EXPECT_EQ(action->place(), "http://localhost:" + server.port());
    return action->run(notice(), {});
  };
  const ActionOutcome invalid = send("/slack/400/invalid_payload");
  EXPECT_EQ(invalid.kind, Kind::kGiveUp);
  EXPECT_EQ(invalid.answer, "400 invalid_payload");
  EXPECT_NE(invalid.status.message().find("invalid_payload"), std::string::npos);
  EXPECT_EQ(send("/slack/404/no_service").kind, Kind::kGiveUp);
  EXPECT_EQ(send("/slack/410/channel_is_archived").kind, Kind::kTargetGone);
  EXPECT_EQ(send("/slack/500/rollup_error").kind, Kind::kTryAgain);
  const ActionOutcome busy = send("/retry-after/429/30");
  EXPECT_EQ(busy.kind, Kind::kTryAgain);
  EXPECT_EQ(busy.retry_after, std::chrono::seconds(30));
  const ActionOutcome echo = send("/echo/services/T0/B0/hidden");
  EXPECT_EQ(shown(*make("slack", {{"url", one("http://localhost/")}}), echo).find("hidden"), std::string::npos);
}

}  // namespace
}  // namespace trainwarden::network
