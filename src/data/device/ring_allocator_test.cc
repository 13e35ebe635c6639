#include "data/device/ring_allocator.h"

#include <gtest/gtest.h>

namespace trainwarden::device {
namespace {

TEST(RingAllocatorTest, RangesFollowOneAnotherUntilTheSpaceIsFull) {
  RingAllocator ring(10);
  EXPECT_EQ(ring.take(4)->begin, 0u);
  EXPECT_EQ(ring.take(4)->begin, 4u);
  EXPECT_FALSE(ring.take(3));
  EXPECT_EQ(ring.take(2)->begin, 8u);
  EXPECT_FALSE(ring.take(1));
}

TEST(RingAllocatorTest, MoreThanTheSpaceNeverHasRoom) {
  RingAllocator ring(10);
  EXPECT_FALSE(ring.take(11));
  EXPECT_TRUE(ring.take(10));
}

TEST(RingAllocatorTest, RoomAtTheBeginningServesAgain) {
  RingAllocator ring(10);
  const auto first = ring.take(4);
  const auto second = ring.take(4);
  ring.give_back(first->number);
  EXPECT_FALSE(ring.take(5));
  const auto third = ring.take(3);
  EXPECT_EQ(third->begin, 0u);
  EXPECT_FALSE(ring.take(2));
  EXPECT_EQ(ring.take(1)->begin, 3u);
  ring.give_back(second->number);
  EXPECT_EQ(ring.take(6)->begin, 4u);
}

TEST(RingAllocatorTest, WhatIsGivenBackEarlyWaitsForWhatWasTakenBefore) {
  RingAllocator ring(10);
  const auto first = ring.take(5);
  const auto second = ring.take(5);
  ring.give_back(second->number);
  EXPECT_FALSE(ring.take(1));
  ring.give_back(first->number);
  EXPECT_EQ(ring.take(10)->begin, 0u);
}

}  // namespace
}  // namespace trainwarden::device
