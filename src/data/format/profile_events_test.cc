#include "data/format/profile_events.h"

#include <gtest/gtest.h>

#include "data/format/control_record.h"

namespace trainwarden::format {
namespace {

TEST(ProfileEvents, ComeBackAsTheyWere) {
  for (const ProfileEvent& event :
       {ProfileEvent{.state = ProfileState::kAccepted, .key = "k", .first_step = 7, .steps = 3, .global_step = 5},
        ProfileEvent{.state = ProfileState::kFinished,
        .key = "k",
        .first_step = 7,
        .steps = 3,
        .global_step = 10,
        .calls = 1234},
        ProfileEvent{.state = ProfileState::kRefused, .key = "k", .error = "why"}}) {
    const auto read = decode_profile_event(encode_profile_event(event));
    ASSERT_TRUE(read.ok()) << read.status().to_string();
    EXPECT_EQ(*read, event);
  }
}

TEST(ProfileRequests, ComeBackAsTheyWere) {
  const ProfileRequest request{
      .key = "k", .first_step = 7, .steps = 3, .requested_by = "user", .unix_ns = 1'700'000'000'000'000'000};
  const auto read = decode_profile_request(encode_profile_request(request));
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(*read, request);
  EXPECT_EQ(profile_request_path("k"), "control/profile-k.json");
  EXPECT_TRUE(is_profile_request_file("profile-k.json"));
}

TEST(ProfileRequests, ForTooManyOrTooFewStepsAreNone) {
  for (const std::int64_t steps : {std::int64_t{-1}, std::int64_t{0}, kMaxProfileSteps + 1}) {
    const auto read = decode_profile_request(encode_profile_request({.key = "k", .steps = steps}));
    EXPECT_EQ(read.status().code(), Code::kDataLoss) << steps;
  }
}

TEST(ProfileEvents, OthersAreNone) {
  const auto read = decode_profile_event(R"({"type": "stop_accepted", "key": "k"})");
  ASSERT_TRUE(read.ok());
  EXPECT_FALSE(read->has_value());
  EXPECT_EQ(decode_profile_event(R"({"type": "profile_finished", "key": 1})").status().code(), Code::kDataLoss);
}

}  // namespace
}  // namespace trainwarden::format
