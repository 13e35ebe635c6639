#include "ui/cli/reports/wiring_view.h"

#include <gtest/gtest.h>

#include "store/storage/memory_storage.h"

namespace trainwarden::cli {
namespace {

constexpr const char* kActions = R"(
[[on]]
name = "halt"
rule = ["VanishingGradient", "ExplodingTensor"]
do = ["skip-step", "stop"]

[[on]]
name = "ops"
event = '{"subject": ["run"]}'
do = "webhook"
url = "https://hooks.example.com/services/T0/B0/hidden-token"
secret = { env = "TW_TEST_NO_SUCH_SECRET" }
format = "eventbridge"
cool_down = "10m"
retry = { max_attempts = 3 }
)";

class WiringViewTest : public ::testing::Test {
 protected:
  WiringViewTest() {
    auto part = delivery::parse_wiring(kActions, "/etc/actions.toml");
    EXPECT_TRUE(part.ok()) << part.status().message();
    wiring_.parts.push_back(std::move(part).value());
    actions::RunContext context;
    context.name = "first";
    context.path = "first";
    context.storage = storage_.get();
    auto subscriptions = wiring_.subscribe(context);
    EXPECT_TRUE(subscriptions.ok()) << subscriptions.status().message();
    subscriptions_ = std::move(subscriptions).value();
  }

  std::unique_ptr<storage::MemoryStorage> storage_ = storage::create_memory_storage();
  ActionWiring wiring_;
  std::vector<delivery::Subscription> subscriptions_;
};

TEST_F(WiringViewTest, EachWireHasItsSubscriptionAndSkipStepHasNone) {
  const auto actions = wired_actions(wiring_, subscriptions_);
  ASSERT_EQ(actions.size(), 3u);
  EXPECT_EQ(actions[0].wire->action, "skip-step");
  EXPECT_EQ(actions[0].subscription, nullptr);
  ASSERT_NE(actions[1].subscription, nullptr);
  EXPECT_EQ(actions[1].subscription->action->name(), "stop");
  ASSERT_NE(actions[2].subscription, nullptr);
  EXPECT_EQ(actions[2].subscription->name, "ops");
}

TEST_F(WiringViewTest, SaysWhatLeadsToWhatAndHowItIsDelivered) {
  const std::string table = wiring_table(wired_actions(wiring_, subscriptions_));
  EXPECT_NE(table.find("VanishingGradient, ExplodingTensor"), std::string::npos) << table;
  EXPECT_NE(table.find("eventbridge, cool-down 10 min"), std::string::npos) << table;
  EXPECT_NE(table.find("3 attempts"), std::string::npos) << table;
  EXPECT_NE(table.find(R"({"subject": ["run"]})"), std::string::npos) << table;
}

TEST_F(WiringViewTest, ShowsNoSecretAndNothingThatMayHoldOne) {
  std::string all = wiring_table(wired_actions(wiring_, subscriptions_)) + secret_table(secrets_of(wiring_));
  for (const WiredAction& action : wired_actions(wiring_, subscriptions_)) all += to_text(json_of(action));
  for (const NamedSecret& secret : secrets_of(wiring_)) all += to_text(json_of(secret));
  EXPECT_EQ(all.find("hidden-token"), std::string::npos) << all;
  EXPECT_NE(all.find("$TW_TEST_NO_SUCH_SECRET"), std::string::npos) << all;
}

TEST_F(WiringViewTest, JsonHasThePatternAsJson) {
  const OrderedJson json = json_of(wired_actions(wiring_, subscriptions_)[2]);
  EXPECT_EQ(json["name"], "ops");
  EXPECT_EQ(json["event"]["subject"][0], "run");
  EXPECT_EQ(json["format"], "eventbridge");
  EXPECT_EQ(json["cool_down_ms"], 600'000);
  EXPECT_EQ(json["retry"]["max_attempts"], 3);
}

TEST_F(WiringViewTest, ASecretThatIsNotThereSaysSo) {
  const auto secrets = secrets_of(wiring_);
  ASSERT_EQ(secrets.size(), 1u);
  const OrderedJson json = json_of(secrets[0]);
  EXPECT_EQ(json["parameter"], "secret");
  EXPECT_EQ(json["readable"], false);
  EXPECT_EQ(secret_table(secrets).find("can be read"), std::string::npos);
}

}  // namespace
}  // namespace trainwarden::cli
