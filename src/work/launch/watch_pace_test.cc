#include "work/launch/watch_pace.h"

#include <gtest/gtest.h>

namespace trainwarden::launch {
namespace {

using std::chrono::milliseconds;

TEST(WatchPace, WithoutABudgetLookingTakesATenthOfAProcessor) {
  const WatchPace pace(0, milliseconds(5));
  EXPECT_EQ(pace.after(100'000), milliseconds(5)) << "a run of few workers is looked at as often as may be";
  EXPECT_EQ(pace.after(10'000'000), milliseconds(100));
  EXPECT_EQ(pace.after(1'000'000'000), milliseconds(500)) << "and not much later than somebody waits";
}

TEST(WatchPace, ALookIsPaidByTheTimeUntilTheNext) {
  const WatchPace pace(0.01, milliseconds(5));
  EXPECT_EQ(pace.after(1'000), milliseconds(5)) << "not more often than that";
  EXPECT_EQ(pace.after(100'000), milliseconds(100)) << "a tenth of one percent";
  EXPECT_EQ(pace.after(50'000'000), milliseconds(500)) << "and not much later than somebody waits";
}

}  // namespace
}  // namespace trainwarden::launch
