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

}  // namespace
}  // namespace trainwarden::cli
