#include "data/format/profile_events.h"

#include <gtest/gtest.h>

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

TEST(ProfileEvents, OthersAreNone) {
  const auto read = decode_profile_event(R"({"type": "stop_accepted", "key": "k"})");
  ASSERT_TRUE(read.ok());
  EXPECT_FALSE(read->has_value());
  EXPECT_EQ(decode_profile_event(R"({"type": "profile_finished", "key": 1})").status().code(), Code::kDataLoss);
}

}  // namespace
}  // namespace trainwarden::format
