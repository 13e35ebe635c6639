#include "hook/capture/writing/loss_tally.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace trainwarden::capture {
namespace {

auto text(std::string message) {
  return [message] { return message; };
}

TEST(LossTally, CountsByCauseAndKeepsTheFirstMessage) {
  LossTally tally;
  EXPECT_TRUE(tally.empty());
  tally.add(LossCause::kStagingFull, 1, 100, text("first"));
  tally.add(LossCause::kStagingFull, 2, 50, text("second"));
  tally.add(LossCause::kUnsupported, 1, 0, text("other"));
  const auto losses = tally.losses();
  ASSERT_EQ(losses.size(), 2u);
  EXPECT_EQ(losses[0].cause, LossCause::kStagingFull);
  EXPECT_EQ(losses[0].count, 3u);
  EXPECT_EQ(losses[0].bytes, 150u);
  EXPECT_EQ(losses[0].first_message, "first");
  EXPECT_EQ(losses[1].cause, LossCause::kUnsupported);
  const auto rows = tally.rows();
  EXPECT_EQ(rows[0].cause, "staging_full");
  EXPECT_EQ(rows[1].cause, "unsupported");
}

TEST(LossTally, MergeAddsUp) {
  LossTally a;
  a.add(LossCause::kTooLarge, 1, 10, text("a"));
  LossTally b;
  b.add(LossCause::kTooLarge, 2, 20, text("b"));
  b.add(LossCause::kHookOff, 1, 0, text("c"));
  a.merge(b);
  EXPECT_EQ(a.count(), 4u);
  EXPECT_EQ(a.losses()[0].first_message, "a");
  EXPECT_EQ(a.losses()[1].first_message, "c");
}

TEST(LossTally, EveryCauseHasItsName) {
  std::set<std::string_view> names;
  for (int i = 0; i < kLossCauseCount; ++i) names.insert(name(static_cast<LossCause>(i)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kLossCauseCount));
  EXPECT_FALSE(names.contains("unknown cause"));
}

}  // namespace
}  // namespace trainwarden::capture
