#include "cli/run_summary.h"

#include <gtest/gtest.h>

namespace trainwarden::cli {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(AgeText, IsForPeople) {
  EXPECT_EQ(age_text(0, kSecond / 2), "just now");
  EXPECT_EQ(age_text(0, 185 * kSecond), "3 min 5 s ago");
}

TEST(AgeText, AClockThatWentBackIsNoAge) {
  EXPECT_EQ(age_text(10 * kSecond, 0), "just now");
}

}  // namespace
}  // namespace trainwarden::cli
