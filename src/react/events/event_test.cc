#include "react/events/event.h"

#include <limits>

#include <gtest/gtest.h>

namespace trainwarden::events {
namespace {

using format::Json;
using format::OrderedJson;

Event sample_event() {
  Event event;
  event.seq = 3;
  event.id = "0123456789abcdef0123456789abcdef-3";
  event.key = "vanishinggradient-120";
  event.type = kAlertType;
  event.subject = "VanishingGradient";
  event.source = "/trainwarden/node7/runs/first";
  event.unix_ns = 1'795'144'388'123'456'789;
  event.change = {ChangeKind::kAlert, "VanishingGradient", "InProgress", "InProgress"};
  event.global_step = 120;
  event.headline = "VanishingGradient fired at step 120";
  event.text = "What is wrong\nand what to do";
  event.data = {{"TrainingJobName", "first"},
                {"TrainingJobArn", "trainwarden:training-job/first"},
                {"Aaa", {{"z", 1}, {"a", 2}}}};
  complete_data(event);
  return event;
}

void expect_same(const Event& a, const Event& b) {
  EXPECT_EQ(a.seq, b.seq);
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.key, b.key);
  EXPECT_EQ(a.type, b.type);
  EXPECT_EQ(a.subject, b.subject);
  EXPECT_EQ(a.source, b.source);
  EXPECT_EQ(a.unix_ns, b.unix_ns);
  EXPECT_EQ(a.change.kind, b.change.kind);
  EXPECT_EQ(a.change.rule, b.change.rule);
  EXPECT_EQ(a.change.from, b.change.from);
  EXPECT_EQ(a.change.to, b.change.to);
  EXPECT_EQ(a.global_step, b.global_step);
  EXPECT_EQ(a.headline, b.headline);
  EXPECT_EQ(a.text, b.text);
  EXPECT_EQ(a.data.dump(), b.data.dump());
}

TEST(Event, ComesBackAsItWas) {
  const Event event = sample_event();
  const auto decoded = decode_event(encode_event(event));
  ASSERT_TRUE(decoded.ok()) << decoded.status().to_string();
  expect_same(*decoded, event);
  EXPECT_EQ(encode_event(*decoded), encode_event(event));
}

TEST(Event, WithoutAStepComesBackWithoutOne) {
  Event event = sample_event();
  event.global_step = -1;
  complete_data(event);
  EXPECT_EQ(decode_event(encode_event(event))->global_step, -1);
}

// What CloudEvents 1.0 asks of a document in structured mode.
TEST(Event, IsACloudEvent) {
  const Json json = Json::parse(encode_event(sample_event()));
  EXPECT_EQ(json.at("specversion"), "1.0");
  EXPECT_EQ(json.at("time"), "2026-11-20T03:13:08.123456789Z");
  EXPECT_EQ(json.at("datacontenttype"), "application/json");
  EXPECT_EQ(json.at("seq"), 3);
  EXPECT_EQ(json.at("data").at("seq"), 3);
  EXPECT_EQ(json.at("data").at("change").at("kind"), "alert");
  EXPECT_EQ(json.at("data").at("change").at("step"), 120);
  for (const auto& [attribute, value] : json.items()) {
    for (const char c : attribute) {
      EXPECT_TRUE((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) << attribute;
    }
    EXPECT_TRUE(value.is_string() || value.is_number_integer() || attribute == "data") << attribute;
  }
}

TEST(Event, HasTheEnvelopeOfEventBridge) {
  Event event = sample_event();
  event.type = kStateChangeType;
  const Json state = Json::parse(encode_as_eventbridge(event));
  EXPECT_EQ(state.at("version"), "0");
  EXPECT_EQ(state.at("detail-type"), "SageMaker Training Job State Change");
  EXPECT_EQ(state.at("source"), "aws.sagemaker");
  EXPECT_EQ(state.at("time"), "2026-11-20T03:13:08Z");
  EXPECT_EQ(state.at("resources"), Json::array({"trainwarden:training-job/first"}));
  EXPECT_EQ(state.at("detail").at("TrainingJobName"), "first");
  EXPECT_EQ(state.at("detail").at("seq"), 3);
  const Json alert = Json::parse(encode_as_eventbridge(sample_event()));
  EXPECT_EQ(alert.at("detail-type"), "Trainwarden Training Job Alert");
  EXPECT_EQ(alert.at("source"), "trainwarden");
  event.data = OrderedJson();
  EXPECT_TRUE(Json::parse(encode_as_eventbridge(event)).at("resources").empty());
}

TEST(Event, RefusesWhatIsNone) {
  const Json whole = Json::parse(encode_event(sample_event()));
  for (const auto& [attribute, value] : whole.items()) {
    Json without = whole;
    without.erase(attribute);
    const auto decoded = decode_event(without.dump());
    ASSERT_EQ(decoded.status().code(), Code::kDataLoss) << attribute;
    EXPECT_NE(decoded.status().message().find(attribute), std::string::npos) << decoded.status().message();
    Json wrong = whole;
    wrong[attribute] = nullptr;
    EXPECT_EQ(decode_event(wrong.dump()).status().code(), Code::kDataLoss) << attribute;
  }
  for (const char* field : {"change", "headline", "text"}) {
    Json without = whole;
    without["data"].erase(field);
    EXPECT_EQ(decode_event(without.dump()).status().code(), Code::kDataLoss) << field;
  }
  Json other = whole;
  other["specversion"] = "0.3";
  EXPECT_EQ(decode_event(other.dump()).status().code(), Code::kDataLoss);
  other = whole;
  other["time"] = "yesterday";
  EXPECT_EQ(decode_event(other.dump()).status().code(), Code::kDataLoss);
  other = whole;
  other["data"]["change"]["kind"] = "metric";
  EXPECT_EQ(decode_event(other.dump()).status().code(), Code::kDataLoss);
}

// Cut anywhere, it is damage and nothing else.
TEST(Event, CutShortIsDamage) {
  const std::string text = encode_event(sample_event());
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_EQ(decode_event(text.substr(0, length)).status().code(), Code::kDataLoss) << length;
  }
}

}  // namespace
}  // namespace trainwarden::events
