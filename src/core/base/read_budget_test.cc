#include "core/base/read_budget.h"

#include <limits>

#include <gtest/gtest.h>

namespace trainwarden {
namespace {

ReadLimits small_limits() {
  ReadLimits limits;
  limits.held_bytes = {100, 2};
  limits.whole_bytes = {10, 3};
  limits.scanned_bytes = {1000, 0};
  limits.pattern_searches = 5;
  return limits;
}

TEST(ReadBudget, WhatIsStoredEarnsWhatMayBeHeld) {
  ReadBudget budget(small_limits());
  EXPECT_TRUE(budget.hold(100, "steps").ok());
  const Status refused = budget.hold(1, "steps");
  EXPECT_EQ(refused.code(), Code::kResourceExhausted);
  EXPECT_NE(refused.message().find("steps: 101 B found, 100 B allowed"), std::string::npos) << refused.message();
  EXPECT_NE(refused.message().find("TRAINWARDEN_READ_BUDGET=4"), std::string::npos);
  budget.earn(50);
  EXPECT_TRUE(budget.hold(100, "steps").ok());
  EXPECT_FALSE(budget.hold(1, "steps").ok());
  EXPECT_FALSE(budget.hold(std::numeric_limits<std::uint64_t>::max(), "steps").ok());
}

TEST(ReadBudget, AWholePieceIsMeasuredAgainstItsOwnFile) {
  const ReadBudget budget(small_limits());
  EXPECT_TRUE(budget.check_whole(40, 10, "payload").ok());
  EXPECT_EQ(budget.check_whole(41, 10, "payload").code(), Code::kResourceExhausted);
  EXPECT_TRUE(
      budget
          .check_whole(std::numeric_limits<std::uint64_t>::max(), std::numeric_limits<std::uint64_t>::max(), "payload")
          .ok())
      << "an allowance that is too large for its number is no small one";
}

TEST(ReadBudget, WorkIsCounted) {
  ReadBudget budget(small_limits());
  EXPECT_TRUE(budget.scan(999, "payloads").ok());
  EXPECT_FALSE(budget.scan(2, "payloads").ok());
  EXPECT_TRUE(budget.scan(1, "payloads").ok()) << "what was refused was not spent";
  EXPECT_TRUE(budget.search_patterns(5, "patterns").ok());
  EXPECT_FALSE(budget.search_patterns(1, "patterns").ok());
}

TEST(ReadBudget, AFactorScalesAllLimits) {
  const ReadLimits usual;
  const ReadLimits twice = *scaled_read_limits("2");
  EXPECT_EQ(twice.held_bytes.base, 2 * usual.held_bytes.base);
  EXPECT_EQ(twice.whole_bytes.per_stored_byte, 2 * usual.whole_bytes.per_stored_byte);
  EXPECT_EQ(twice.scanned_bytes.base, 2 * usual.scanned_bytes.base);
  EXPECT_EQ(twice.pattern_searches, 2 * usual.pattern_searches);
  EXPECT_EQ(twice.json_values, 2 * usual.json_values);
  for (const char* bad : {"", "0", "-1", "nan", "much", "1e300"}) {
    EXPECT_EQ(scaled_read_limits(bad).status().code(), Code::kInvalidArgument) << bad;
  }
}

}  // namespace
}  // namespace trainwarden
