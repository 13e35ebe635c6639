#include "data/format/capture_events.h"

#include <gtest/gtest.h>

#include "data/format/control_record.h"

namespace trainwarden::format {
namespace {

BudgetEvent sample_bill() {
  BudgetEvent event;
  event.global_step = 120;
  event.mode = Mode::kTrain;
  event.interval_factor = 32;
  event.losses_factor = 4;
  event.signals_factor = 8;
  event.dropped = {"histogram", "hash"};
  event.budget = 0.01;
  event.training_ns = 12'000'000'000;
  event.capture_ns = 100'000'000;
  return event;
}

TEST(BudgetEventTest, RoundTripAndExactJson) {
  const std::string json = encode_budget_event(sample_bill());
  EXPECT_EQ(
      json,
      R"({"type":"budget","global_step":120,"mode":"train","interval_factor":32,"losses_factor":4,)"
      R"("signals_factor":8,"dropped":["histogram","hash"],"budget":0.01,"training_ns":12000000000,"capture_ns":100000000})");
  const auto decoded = decode_budget_event(json);
  ASSERT_TRUE(decoded.ok()) << decoded.status().to_string();
  EXPECT_EQ(*decoded, sample_bill());
}

TEST(BudgetEventTest, OfARunThatKeptAllLosses) {
  const auto decoded = decode_budget_event(
      R"({"type":"budget","global_step":1,"mode":"train","interval_factor":2,"dropped":[],"budget":0.01})");
  ASSERT_FALSE(decoded.ok()) << "it has no bill";
  const auto whole = decode_budget_event(
      R"({"type":"budget","global_step":1,"mode":"train","interval_factor":2,"dropped":[],"budget":0.01,)"
      R"("training_ns":5,"capture_ns":1})");
  ASSERT_TRUE(whole.ok() && whole->has_value()) << whole.status().to_string();
  EXPECT_EQ((*whole)->losses_factor, 1);
}

TEST(BudgetEventTest, OfARunThatKeptSignalsWithLosses) {
  const auto decoded = decode_budget_event(
      R"({"type":"budget","global_step":1,"mode":"train","interval_factor":2,"losses_factor":4,"dropped":[],)"
      R"("budget":0.01,"training_ns":5,"capture_ns":1})");
  ASSERT_TRUE(decoded.ok() && decoded->has_value()) << decoded.status().to_string();
  EXPECT_EQ((*decoded)->signals_factor, 4);
}

TEST(BudgetEventTest, OtherEventsAreNoneAndDamageIsSaid) {
  const auto other = decode_budget_event(R"({"type":"run_end"})");
  ASSERT_TRUE(other.ok());
  EXPECT_FALSE(other->has_value());
  EXPECT_EQ(decode_budget_event("{").status().code(), Code::kDataLoss);
  for (const char* json : {R"({"type":"budget"})", R"({"type":"budget","global_step":1,"mode":"sleep"})",
                           R"({"type":"budget","global_step":1,"mode":"train","interval_factor":0})"}) {
    EXPECT_EQ(decode_budget_event(json).status().code(), Code::kDataLoss) << json;
  }
}

TEST(CaptureAnswerTest, RoundTrip) {
  const CaptureAnswer accepted{.key = "k", .source = "control/capture-k.json", .accepted = true, .global_step = 7};
  EXPECT_EQ(encode_capture_answer(accepted),
            R"({"type":"capture_accepted","key":"k","source":"control/capture-k.json","global_step":7})");
  const CaptureAnswer refused{.key = "", .source = "/a/hook.json", .error = "rank cannot be changed"};
  for (const CaptureAnswer& answer : {accepted, refused}) {
    const auto decoded = decode_capture_answer(encode_capture_answer(answer));
    ASSERT_TRUE(decoded.ok()) << decoded.status().to_string();
    EXPECT_EQ(*decoded, answer);
  }
  EXPECT_FALSE(decode_capture_answer(R"({"type":"budget"})")->has_value());
  EXPECT_EQ(decode_capture_answer(R"({"type":"capture_refused","key":"k"})").status().code(), Code::kDataLoss);
}

TEST(CaptureRequestTest, RoundTrip) {
  const CaptureRequest request{.key = "17-42",
                               .options = R"({"include":["a"],"save":{"save_interval":10}})",
                               .exclude_collections = {"weights"},
                               .only = true,
                               .reset = true,
                               .requested_by = "user",
                               .unix_ns = 1};
  const auto decoded = decode_capture_request(encode_capture_request(request));
  ASSERT_TRUE(decoded.ok()) << decoded.status().to_string();
  EXPECT_EQ(*decoded, request);
  EXPECT_EQ(capture_request_path("17-42"), "control/capture-17-42.json");
  EXPECT_TRUE(is_capture_request_file("capture-17-42.json"));
  for (const char* other : {"capture-.json", "stop-k.json", "capture-k.json.tmp", "capture"}) {
    EXPECT_FALSE(is_capture_request_file(other)) << other;
  }
}

TEST(CaptureRequestTest, WhatIsMissingIsSaid) {
  const auto request = decode_capture_request(R"({"type":"capture","key":"k","options":[]})");
  EXPECT_EQ(request.status().code(), Code::kDataLoss);
  EXPECT_NE(request.status().message().find("\"options\""), std::string::npos) << request.status().message();
  EXPECT_FALSE(decode_capture_request(R"({"type":"stop","key":"k"})").ok());
}

}  // namespace
}  // namespace trainwarden::format
