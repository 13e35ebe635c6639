#include "measure/sampling/tick_schedule.h"

#include <gtest/gtest.h>

namespace trainwarden::sampling {
namespace {

TEST(TickSchedule, WhatATickTakesDelaysNoLaterOne) {
  TickSchedule schedule(1000, 100);
  EXPECT_EQ(schedule.next_ns(), 1000);
  schedule.made(1099);
  EXPECT_EQ(schedule.next_ns(), 1100);
  schedule.made(1101);
  EXPECT_EQ(schedule.next_ns(), 1200);
  EXPECT_EQ(schedule.missed(), 0);
}

TEST(TickSchedule, TicksThatAreOverAreLeftOutAndCounted) {
  TickSchedule schedule(1000, 100);
  schedule.made(1350);
  EXPECT_EQ(schedule.next_ns(), 1400);
  EXPECT_EQ(schedule.missed(), 3) << "those of 1100, 1200 and 1300";
  schedule.made(1500);
  EXPECT_EQ(schedule.next_ns(), 1600) << "one that is due just now is over too";
  EXPECT_EQ(schedule.missed(), 4);
}

TEST(TickSchedule, ABreakMissesNothing) {
  TickSchedule schedule(1000, 100);
  schedule.made(1250);
  schedule.begin_anew(9000, 500);
  EXPECT_EQ(schedule.next_ns(), 9000);
  schedule.made(9001);
  EXPECT_EQ(schedule.next_ns(), 9500);
  EXPECT_EQ(schedule.missed(), 2) << "those before the break";
}

TEST(TickSchedule, ASuspendedMachineMissesTicksOnce) {
  TickSchedule schedule(0, 100);
  const std::int64_t week_ns = 7 * 24 * 3600 * std::int64_t{1'000'000'000};
  schedule.made(week_ns);
  EXPECT_EQ(schedule.next_ns(), week_ns + 100);
  EXPECT_EQ(schedule.missed(), week_ns / 100);
}

}  // namespace
}  // namespace trainwarden::sampling
