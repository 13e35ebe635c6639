#include "react/events/delivery_record.h"

#include <gtest/gtest.h>

namespace trainwarden::events {
namespace {

DeliveryRecord sample_delivery() {
  DeliveryRecord record;
  record.subscription = "ops";
  record.action = "webhook";
  record.place = "https://hooks.example.com";
  record.seq = 7;
  record.event_id = "abc-7";
  record.key = "vanishinggradient-120";
  record.state = DeliveryState::kWaiting;
  record.attempt = 3;
  record.answer = "503";
  record.message = "unavailable";
  record.unix_ns = 10;
  record.next_unix_ns = 20;
  record.duration_ns = 30;
  record.target_gone = true;
  record.request = "r-1";
  return record;
}

TEST(DeliveryRecord, ComesBackAsItWas) {
  for (const auto state :
       {DeliveryState::kStarted, DeliveryState::kDelivered, DeliveryState::kWaiting, DeliveryState::kDead,
        DeliveryState::kSuppressed, DeliveryState::kRedriven, DeliveryState::kDropped}) {
    DeliveryRecord record = sample_delivery();
    record.state = state;
    const auto decoded = decode_delivery(encode_delivery(record));
    ASSERT_TRUE(decoded.ok() && *decoded) << decoded.status().to_string();
    EXPECT_EQ((**decoded).state, state);
    EXPECT_EQ(encode_delivery(**decoded), encode_delivery(record));
  }
}

TEST(DeliveryRecord, HasTheFieldsOfTheDocument) {
  EXPECT_EQ(
      encode_delivery(sample_delivery()),
      R"({"type":"delivery","subscription":"ops","action":"webhook","place":"https://hooks.example.com","seq":7,)"
      R"("event_id":"abc-7","key":"vanishinggradient-120","state":"waiting","attempt":3,"answer":"503",)"
      R"("message":"unavailable","unix_ns":10,"next_unix_ns":20,"duration_ns":30,"target_gone":true,"request":"r-1"})");
}

TEST(DeliveryRecord, KeepsWhatIsThereNowAndThen) {
  DeliveryRecord record = sample_delivery();
  record.target_gone = true;
  record.request = "redrive-1";
  const auto decoded = decode_delivery(encode_delivery(record));
  ASSERT_TRUE(decoded.ok() && *decoded);
  EXPECT_TRUE((**decoded).target_gone);
  EXPECT_EQ((**decoded).request, "redrive-1");
}

TEST(DeliveryRecord, LeavesOtherTypesToOthers) {
  const auto other = decode_delivery(R"({"type":"intake","journals":{}})");
  ASSERT_TRUE(other.ok());
  EXPECT_FALSE(*other);
}

TEST(DeliveryRecord, RefusesDamage) {
  for (const char* text : {"", "[]", R"({"type":"delivery"})", R"({"no":"type"})"}) {
    EXPECT_EQ(decode_delivery(text).status().code(), Code::kDataLoss) << text;
  }
  std::string unknown = encode_delivery(sample_delivery());
  unknown.replace(unknown.find("waiting"), 7, "flying!");
  EXPECT_NE(decode_delivery(unknown).status().message().find("flying!"), std::string::npos);
}

TEST(SubscribedRecord, ComesBackAsItWas) {
  const SubscribedRecord record{"ops", "webhook", "https://hooks.example.com", "conf/actions.toml", 4, 99};
  const auto decoded = decode_subscribed(encode_subscribed(record));
  ASSERT_TRUE(decoded.ok() && *decoded);
  EXPECT_EQ((**decoded).config, "conf/actions.toml");
  EXPECT_EQ((**decoded).from_seq, 4u);
  EXPECT_EQ(encode_subscribed(**decoded), encode_subscribed(record));
  EXPECT_EQ(decode_subscribed(R"({"type":"subscribed"})").status().code(), Code::kDataLoss);
}

}  // namespace
}  // namespace trainwarden::events
