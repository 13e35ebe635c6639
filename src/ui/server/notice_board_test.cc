#include "ui/server/notice_board.h"

#include <gtest/gtest.h>

namespace trainwarden::server {
namespace {

TEST(NoticeBoard, KeepsTheNewestOfEachKind) {
  NoticeBoard board(1000);
  board.publish("a", "steps", 1);
  board.publish("b", "steps", 7);
  board.publish("a", "steps", 2);
  board.publish("a", "rules");
  const auto notices = board.after(1000);
  ASSERT_EQ(notices.size(), 3U);
  EXPECT_EQ(notices[0].run, "b");
  EXPECT_EQ(notices[1].last_step, 2);
  EXPECT_EQ(notices[2].kind, "rules");
  EXPECT_EQ(board.after(notices[1].version).size(), 1U);
  EXPECT_TRUE(board.after(notices[2].version).empty());
}

TEST(NoticeBoard, TellsStrangersThatAnythingMayHaveChanged) {
  NoticeBoard board(1000);
  board.publish("a", "steps", 1);
  for (const std::uint64_t version : {std::uint64_t{0}, std::uint64_t{999}, std::uint64_t{5000}}) {
    const auto notices = board.after(version);
    ASSERT_EQ(notices.size(), 1U);
    EXPECT_EQ(notices[0].kind, "runs");
    EXPECT_EQ(notices[0].run, "");
    EXPECT_EQ(notices[0].version, 1001U);
  }
}

TEST(NoticeBoard, ForgetsWhatIsOldest) {
  NoticeBoard board(1);
  for (int run = 0; run < 5000; ++run) board.publish(std::to_string(run), "steps", run);
  const auto notices = board.after(1);
  EXPECT_EQ(notices.size(), 4096U);
  EXPECT_EQ(notices.back().last_step, 4999);
}

TEST(NoticeBoard, CallsWhoWantsToKnow) {
  NoticeBoard board(1);
  int calls = 0;
  board.on_news([&] { ++calls; });
  board.publish("a", "state");
  board.on_news(nullptr);
  board.publish("a", "state");
  EXPECT_EQ(calls, 1);
}

TEST(ToEvent, IsOneEventWithItsNumber) {
  EXPECT_EQ(to_event({12, "1f", "steps", 3}),
            "id: 12\ndata: {\"run\":\"1f\",\"version\":12,\"kind\":\"steps\",\"last_step\":3}\n\n");
  EXPECT_EQ(to_event({13, "", "runs", -1}), "id: 13\ndata: {\"run\":\"\",\"version\":13,\"kind\":\"runs\"}\n\n");
}

}  // namespace
}  // namespace trainwarden::server
