#include "ui/cli/reports/run_summary.h"

#include <gtest/gtest.h>

namespace trainwarden::cli {
namespace {

constexpr std::int64_t kSummarySecond = 1'000'000'000;

TEST(AgeText, IsForPeople) {
  EXPECT_EQ(age_text(0, kSummarySecond / 2), "just now");
  EXPECT_EQ(age_text(0, 185 * kSummarySecond), "3 min 5 s ago");
}

TEST(AgeText, AClockThatWentBackIsNoAge) {
  EXPECT_EQ(age_text(10 * kSummarySecond, 0), "just now");
}

TEST(StatusText, SaysOnceWhatIsTheSame) {
  using events::SecondaryStatus;
  EXPECT_EQ(status_text(RunState::kCompleted, SecondaryStatus::kCompleted), "completed");
  EXPECT_EQ(status_text(RunState::kCompleted, SecondaryStatus::kFailed), "failed");
  EXPECT_EQ(status_text(RunState::kDied, SecondaryStatus::kFailed), "died");
  EXPECT_EQ(status_text(RunState::kCompleted, SecondaryStatus::kStopped), "completed (Stopped)");
}

}  // namespace
}  // namespace trainwarden::cli
