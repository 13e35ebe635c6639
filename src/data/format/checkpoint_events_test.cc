#include "data/format/checkpoint_events.h"

#include <gtest/gtest.h>

#include "data/format/control_record.h"

namespace trainwarden::format {
namespace {

CheckpointEvent sample_event(CheckpointState state) {
  return {.state = state,
          .key = "loss-120",
          .reason = "LossNotDecreasing fired at step 120",
          .requested_by = "watch-0",
          .global_step = 123};
}

TEST(CheckpointEventTest, ExactJson) {
  CheckpointEvent saved = sample_event(CheckpointState::kSaved);
  saved.path = "checkpoints/step-000123-rank-00000.pt";
  saved.bytes = 4096;
  saved.duration_ns = 250;
  EXPECT_EQ(encode_checkpoint_event(saved),
            R"({"type":"checkpoint_saved","key":"loss-120","reason":"LossNotDecreasing fired at step 120",)"
            R"("requested_by":"watch-0","global_step":123,)"
            R"("path":"checkpoints/step-000123-rank-00000.pt","bytes":4096,"duration_ns":250})");
}

TEST(CheckpointEventTest, RoundTripOfEachState) {
  CheckpointEvent saved = sample_event(CheckpointState::kSaved);
  saved.path = "/elsewhere/a \"quoted\" place";
  saved.bytes = 1;
  saved.duration_ns = 2;
  CheckpointEvent refused = sample_event(CheckpointState::kRefused);
  refused.error = "disk full";
  for (const CheckpointEvent& event : {sample_event(CheckpointState::kAccepted), saved, refused}) {
    const auto decoded = decode_checkpoint_event(encode_checkpoint_event(event));
    ASSERT_TRUE(decoded.ok()) << decoded.status().to_string();
    EXPECT_EQ(*decoded, event);
  }
}

TEST(CheckpointEventTest, OtherEventsAreNoneAndDamageIsSaid) {
  const auto other = decode_checkpoint_event(R"({"type":"run_end"})");
  ASSERT_TRUE(other.ok());
  EXPECT_FALSE(other->has_value());
  for (const char* json : {"{", R"({"type":"checkpoint_saved","key":"k"})",
                           R"({"type":"checkpoint_refused","key":"k","reason":"","requested_by":"","global_step":1})",
                           R"({"type":"checkpoint_saved","key":"k","reason":"","requested_by":"","global_step":-2,)"
                           R"("path":"","bytes":0,"duration_ns":0})"}) {
    EXPECT_EQ(decode_checkpoint_event(json).status().code(), Code::kDataLoss) << json;
  }
}

TEST(CheckpointRequestTest, RoundTrip) {
  const CheckpointRequestRecord request{.key = "17-42",
                                        .reason = "before I change the learning rate",
                                        .rule = "LossNotDecreasing",
                                        .global_step = 120,
                                        .requested_by = "user",
                                        .unix_ns = 1};
  const auto decoded = decode_checkpoint_request(encode_checkpoint_request(request));
  ASSERT_TRUE(decoded.ok()) << decoded.status().to_string();
  EXPECT_EQ(*decoded, request);
  EXPECT_EQ(checkpoint_request_path("17-42"), "control/checkpoint-17-42.json");
  EXPECT_TRUE(is_checkpoint_request_file("checkpoint-17-42.json"));
  for (const char* other : {"checkpoint-.json", "stop-k.json", "checkpoint-k.json.1-0.tmp", "checkpoint", ""}) {
    EXPECT_FALSE(is_checkpoint_request_file(other)) << other;
  }
}

TEST(CheckpointRequestTest, AnotherTypeAndWhatIsMissingAreSaid) {
  EXPECT_FALSE(decode_checkpoint_request(encode_black_box_request({.key = "k"})).ok());
  const auto request = decode_checkpoint_request(R"({"type":"checkpoint","key":"k"})");
  EXPECT_EQ(request.status().code(), Code::kDataLoss);
  EXPECT_NE(request.status().message().find("\"reason\""), std::string::npos) << request.status().message();
}

}  // namespace
}  // namespace trainwarden::format
