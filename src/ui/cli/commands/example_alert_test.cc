#include "ui/cli/commands/example_alert.h"

#include <gtest/gtest.h>

#include "data/format/json.h"
#include "store/storage/memory_storage.h"
#include "ui/cli/options/action_choice.h"

namespace trainwarden::cli {
namespace {

constexpr std::int64_t kNow = 1'700'000'000'000'000'000;

delivery::Subscription subscription_to_file(delivery::EventFormat format) {
  ActionWiring wiring;
  auto wire = delivery::parse_wire("file:path=test_alert_test.jsonl");
  EXPECT_TRUE(wire.ok());
  wiring.parts.push_back({{std::move(wire).value()}, "", {}});
  const auto storage = storage::create_memory_storage();
  actions::RunContext context;
  context.storage = storage.get();
  auto subscriptions = wiring.subscribe(context);
  EXPECT_TRUE(subscriptions.ok()) << subscriptions.status().message();
  delivery::Subscription subscription = std::move(subscriptions->front());
  subscription.format = format;
  return subscription;
}

TEST(TestAlert, SaysEverywhereThatItIsATest) {
  const events::Event alert = example_alert("VanishingGradient", kNow);
  EXPECT_TRUE(alert.id.starts_with("test-"));
  EXPECT_TRUE(alert.key.starts_with("test-"));
  EXPECT_TRUE(alert.headline.starts_with("TEST: "));
  EXPECT_NE(alert.text.find("This is a test"), std::string::npos);
  EXPECT_EQ(alert.data["test"], true);
  EXPECT_EQ(alert.type, events::kAlertType);
  EXPECT_EQ(alert.change.rule, "VanishingGradient");
}

TEST(TestAlert, IsAnEventLikeAnyOther) {
  const auto subscription = subscription_to_file(delivery::EventFormat::kCloudEvents);
  const auto notice = example_notice(example_alert("NaNLoss", kNow), subscription);
  const auto json = format::Json::parse(notice.document);
  EXPECT_EQ(json["specversion"], "1.0");
  EXPECT_EQ(json["data"]["test"], true);
  EXPECT_EQ(notice.content_type, "application/cloudevents+json");
  EXPECT_EQ(notice.rule, "NaNLoss");
}

TEST(TestAlert, ComesInTheFormThatTheSubscriberWants) {
  const auto subscription = subscription_to_file(delivery::EventFormat::kEventBridge);
  const auto notice = example_notice(example_alert("NaNLoss", kNow), subscription);
  const auto json = format::Json::parse(notice.document);
  EXPECT_EQ(json["detail"]["test"], true);
  EXPECT_EQ(json["detail-type"], events::kEventBridgeAlertType);
}

}  // namespace
}  // namespace trainwarden::cli
