#include "hook/capture/operators/call_log.h"

#include <gtest/gtest.h>

namespace trainwarden::capture {
namespace {

constexpr std::uint32_t kWindow = 1;
constexpr std::int64_t kRoom = 4 * CallLog::kPieceCalls;

class CallLogTest : public testing::Test {
 protected:
  CallLogTest() { room_.set(kRoom); }

  const void* key(std::size_t number) const { return &keys_[number]; }
  void begin(std::size_t key_number, std::int64_t now_ns, std::uint32_t window = kWindow) {
    log_.begin(window, key(key_number), {.start_ns = now_ns, .name = static_cast<std::uint32_t>(key_number)});
  }
  void end(std::size_t key_number, std::int64_t now_ns, std::uint32_t window = kWindow) {
    log_.end(window, key(key_number), now_ns);
  }
  std::vector<LoggedCall> taken() {
    std::vector<LoggedCall> calls;
    log_.take(calls);
    return calls;
  }

  std::array<char, 2 * CallLog::kMaxDepth> keys_{};
  CallRoom room_;
  CallLog log_{1, room_};
};

TEST_F(CallLogTest, KeepsCallsWithinEachOther) {
  begin(1, 10);
  begin(2, 12);
  end(2, 15);
  end(1, 20);
  const auto calls = taken();
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].name, 2u);
  EXPECT_EQ(calls[0].start_ns, 12);
  EXPECT_EQ(calls[0].duration_ns, 3);
  EXPECT_EQ(calls[1].name, 1u);
  EXPECT_EQ(calls[1].duration_ns, 10);
  EXPECT_TRUE(taken().empty()) << "each is taken once";
  EXPECT_EQ(log_.take_lost(), 0u);
}

TEST_F(CallLogTest, ACallThatIsTakenLaterEndsInItsOwnTime) {
  begin(1, 10);
  EXPECT_TRUE(taken().empty());
  end(1, 30);
  ASSERT_EQ(taken().size(), 1u);
}

TEST_F(CallLogTest, WhatEndsElsewhereIsLostAndTheOthersAreNot) {
  begin(1, 10);
  begin(2, 12);  // ends in another thread
  end(3, 13);    // began in another thread
  end(1, 20);
  const auto calls = taken();
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].name, 1u);
  EXPECT_EQ(log_.take_lost(), 1u);
}

TEST_F(CallLogTest, AnotherWindowForgetsWhatWasOpen) {
  begin(1, 10);
  begin(2, 100, kWindow + 1);
  end(1, 110, kWindow + 1);
  end(2, 120, kWindow + 1);
  const auto calls = taken();
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].name, 2u);
  begin(3, 130, kWindow + 1);
  end(3, 140, kWindow + 2);
  EXPECT_TRUE(taken().empty());
}

TEST_F(CallLogTest, CallsThatAreTooDeepAreLost) {
  const std::size_t depth = CallLog::kMaxDepth + 3;
  for (std::size_t i = 0; i < depth; ++i) begin(i, static_cast<std::int64_t>(i));
  for (std::size_t i = depth; i > 0; --i) end(i - 1, 1000);
  EXPECT_EQ(taken().size(), CallLog::kMaxDepth);
  EXPECT_EQ(log_.take_lost(), 3u);
}

TEST_F(CallLogTest, TakesNoMoreMemoryThanThereIsAndGoesOnInTheNextWindow) {
  constexpr std::int64_t kCalls = kRoom + 5;
  for (std::int64_t i = 0; i < kCalls; ++i) {
    begin(1, i);
    end(1, i + 1);
    if (i == CallLog::kPieceCalls) {
      EXPECT_EQ(taken().size(), CallLog::kPieceCalls + 1);
    }
  }
  const auto rest = taken();
  ASSERT_EQ(rest.size(), static_cast<std::size_t>(kRoom) - CallLog::kPieceCalls - 1);
  EXPECT_EQ(rest.front().start_ns, CallLog::kPieceCalls + 1);
  EXPECT_EQ(rest.back().start_ns, kRoom - 1);
  EXPECT_EQ(log_.take_lost(), 5u);
  room_.set(kRoom);
  begin(1, 1, kWindow + 1);
  end(1, 2, kWindow + 1);
  EXPECT_EQ(taken().size(), 1u);
}

}  // namespace
}  // namespace trainwarden::capture
