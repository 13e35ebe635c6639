// How much of the travelling of buckets a backward pass hides.
#include "parallel/overlap.h"

#include <gtest/gtest.h>

namespace bert {
namespace {

BucketTimes sent(std::int64_t bytes, std::int64_t launched_ns, std::int64_t done_ns, bool rows = false) {
  return {.bytes = bytes, .launched_ns = launched_ns, .done_ns = done_ns, .rows = rows};
}

TEST(OverlapTest, WhatTravelsBeforeBackwardHasEndedIsHidden) {
  const Overlap overlap = overlap_of({sent(100, 10, 30), sent(100, 40, 60), sent(100, 60, 70)}, 50, 4);
  EXPECT_EQ(overlap.travelled_ns, 50);
  EXPECT_EQ(overlap.hidden_ns, 30);
}

TEST(OverlapTest, TimeInWhichTwoTravelCountsOnce) {
  const Overlap overlap = overlap_of({sent(1, 10, 50), sent(1, 20, 30), sent(1, 40, 70)}, 60, 2);
  EXPECT_EQ(overlap.travelled_ns, 60);
  EXPECT_EQ(overlap.hidden_ns, 50);
}

TEST(OverlapTest, RowsGoToAllOthersAndSumsAroundARing) {
  const Overlap overlap = overlap_of({sent(1000, 0, 1), sent(10, 1, 2, true)}, 0, 4);
  EXPECT_EQ(overlap.bytes, 1010);
  EXPECT_EQ(overlap.wire_bytes, 1500 + 30);
}

}  // namespace
}  // namespace bert
