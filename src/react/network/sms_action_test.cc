#include "react/network/sms_action.h"

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "react/network/network_testing.h"

namespace trainwarden::network {
namespace {

using actions::ActionOutcome;
using actions::Secret;

TEST(SmsText, IsCutToWhatItsPartsHold) {
  EXPECT_EQ(sms_text("short\nand  plain", 1), "short and plain");
  EXPECT_EQ(sms_text(std::string(500, 'x'), 1).size(), 160U);
  EXPECT_EQ(sms_text(std::string(500, 'x'), 2).size(), 306U);
  EXPECT_EQ(sms_text(std::string(500, '['), 1).size(), 80U) << "these take two characters each";
}

TEST(SmsText, HasOnlyWhatTheAlphabetHas) {
  EXPECT_EQ(sms_text("Größe `w` \xff\x01", 1), "Gr??e ?w? ??");
}

TEST(SmsTemplate, ValuesAreEscapedForTheirBody) {
  const std::map<std::string, std::string> values = {{"message", "a&b=\"c\" 1%\n+"}, {"to", "+15550100"}};
  EXPECT_EQ(fill_template("To={to}&Body={message}", values, SmsBody::kForm),
            "To=%2B15550100&Body=a%26b%3D%22c%22%201%25%0A%2B");
  const auto json =
      nlohmann::json::parse(fill_template(R"({"to": ["{to}"], "text": "{message}"})", values, SmsBody::kJson));
  EXPECT_EQ(json["text"], values.at("message"));
  EXPECT_EQ(json["to"][0], "+15550100");
}

TEST(SmsTemplate, AMistakeInItIsFoundBeforeATrainingBegins) {
  const std::map<std::string, std::string> values = {{"message", ""}, {"to", ""}};
  EXPECT_TRUE(check_template(R"({"text": "{message}", "options": {"a": {}}})", values, SmsBody::kJson).ok());
  const Status unknown = check_template("Body={mesage}", values, SmsBody::kForm);
  EXPECT_EQ(unknown.code(), Code::kInvalidArgument);
  EXPECT_NE(unknown.message().find("\"message\""), std::string::npos) << unknown.message();
  EXPECT_EQ(check_template("text={message}", values, SmsBody::kJson).code(), Code::kInvalidArgument);
}

class Sms : public ActionFixture {
 protected:
  Sms() { ::setenv("TW_TEST_SMS_SECRET", "hidden", 1); }
  ~Sms() override { ::unsetenv("TW_TEST_SMS_SECRET"); }
  static Secret secret() { return Secret::in_environment("TW_TEST_SMS_SECRET"); }
};

// As the document has it for Twilio.
TEST_F(Sms, PostsAFormWithBasicAuthentication) {
  const exchange::TestServer server("http_server.py", file("record"));
  const auto action = make("sms", {{"url", one("http://localhost:" + server.port() + "/status/201")},
                                   {"to", one("+15550100")},
                                   {"from", one("+15550111")},
                                   {"user", one("AC123")},
                                   {"password", secret()}});
  const ActionOutcome outcome = action->run(notice(), {});
  EXPECT_EQ(outcome.kind, Kind::kDone) << outcome.status.to_string();
  const auto received = server.received();
  ASSERT_EQ(received.size(), 1U);
  EXPECT_EQ(received[0]["method"], "POST");
  EXPECT_EQ(received[0]["headers"]["authorization"], "Basic QUMxMjM6aGlkZGVu");  // AC123:hidden
  EXPECT_EQ(received[0]["headers"]["content-type"], "application/x-www-form-urlencoded");
  const std::string body = received[0]["body"];
  EXPECT_TRUE(body.starts_with("To=%2B15550100&From=%2B15550111&Body=first%3A%20VanishingGradient%20fired")) << body;
  EXPECT_EQ(shown(*action, outcome).find("hidden"), std::string::npos);
}

// As the document has it for Bird, and for Vonage.
TEST_F(Sms, PostsJsonWithATokenInAHeaderOrInTheBody) {
  const exchange::TestServer server("http_server.py", file("record"));
  const auto send = [&](const std::string& body) {
    const auto action = make("sms", {{"url", one("http://localhost:" + server.port() + "/ok")},
                                     {"to", one("+15550100")},
                                     {"encoding", one("json")},
                                     {"body", one(body)},
                                     {"token", secret()},
                                     {"token_scheme", one("AccessKey")}});
    EXPECT_EQ(action->run(notice(), {}).kind, Kind::kDone);
    return server.received().back();
  };
  const auto by_header = send(R"({"recipients": ["{to}"], "body": "{message}"})");
  EXPECT_EQ(by_header["headers"]["authorization"], "AccessKey hidden");
  EXPECT_EQ(nlohmann::json::parse(by_header["body"].get<std::string>())["recipients"][0], "+15550100");
  const auto by_body = send(R"({"api_secret": "{token}", "to": "{to}", "text": "{message}"})");
  EXPECT_FALSE(by_body["headers"].contains("authorization"));
  EXPECT_EQ(nlohmann::json::parse(by_body["body"].get<std::string>())["api_secret"], "hidden");
}

TEST_F(Sms, TheAnswerSaysWhetherItIsSentAgain) {
  const exchange::TestServer server("http_server.py", file("record"));
  const auto kind = [&](const std::string& path) {
    const auto action =
        make("sms", {{"url", one("http://localhost:" + server.port() + path)}, {"to", one("+15550100")}});
    return action->run(notice(), {}).kind;
  };
  EXPECT_EQ(kind("/status/400"), Kind::kGiveUp);
  EXPECT_EQ(kind("/status/503"), Kind::kTryAgain);
}

TEST_F(Sms, WrongParametersAreRefused) {
  const auto status = [&](Parameters more) {
    more.emplace("url", one("https://sms.example.com"));
    return try_make("sms", std::move(more)).status().code();
  };
  EXPECT_EQ(status({}), Code::kInvalidArgument) << "to is missing";
  EXPECT_EQ(status({{"to", one("1")}, {"body", one("{mesage}")}}), Code::kInvalidArgument);
  EXPECT_EQ(status({{"to", one("1")}, {"user", one("u")}}), Code::kInvalidArgument);
  EXPECT_EQ(status({{"to", one("1")}, {"token", one("in the clear")}}), Code::kInvalidArgument);
}

}  // namespace
}  // namespace trainwarden::network
