#include "hook/capture/budget/pulse.h"

#include <gtest/gtest.h>

#include "hook/capture/capture_testing.h"

namespace trainwarden::capture {
namespace {

TEST(Pulse, IsOffUntilSwitchedOn) {
  const Pulse pulse;
  EXPECT_FALSE(pulse.is_due(1'000'000 * kMillisecond));
}

TEST(Pulse, ComesASecondAfterTheLastStepThatWasKept) {
  Pulse pulse;
  pulse.switch_on(0);
  EXPECT_FALSE(pulse.is_due(999 * kMillisecond));
  EXPECT_TRUE(pulse.is_due(1000 * kMillisecond));
  pulse.begin_step(Pulse::Kept::kByThePulse, 1000 * kMillisecond, 0);
  pulse.begin_step(Pulse::Kept::kNot, 1010 * kMillisecond, 1 * kMillisecond);
  EXPECT_FALSE(pulse.is_due(2009 * kMillisecond));
  EXPECT_TRUE(pulse.is_due(2010 * kMillisecond));
}

TEST(Pulse, IsRarerWhereItIsDear) {
  Pulse pulse;
  pulse.switch_on(0);
  pulse.begin_step(Pulse::Kept::kByThePulse, 1000 * kMillisecond, 20 * kMillisecond);
  pulse.begin_step(Pulse::Kept::kNot, 1100 * kMillisecond, 30 * kMillisecond);  // it cost 10 ms
  EXPECT_FALSE(pulse.is_due(5099 * kMillisecond));
  EXPECT_TRUE(pulse.is_due(5100 * kMillisecond));
}

TEST(Pulse, WhatOtherStepsCostIsNoMatter) {
  Pulse pulse;
  pulse.switch_on(0);
  pulse.begin_step(Pulse::Kept::kByItsInterval, 0, 0);
  pulse.begin_step(Pulse::Kept::kNot, 500 * kMillisecond, 300 * kMillisecond);
  EXPECT_FALSE(pulse.is_due(1499 * kMillisecond));
  EXPECT_TRUE(pulse.is_due(1500 * kMillisecond));
}

TEST(Pulse, StepsThatAreNotKeptDoNotPutItOff) {
  Pulse pulse;
  pulse.switch_on(0);
  for (int i = 1; i < 100; ++i) pulse.begin_step(Pulse::Kept::kNot, i * 10 * kMillisecond, 0);
  EXPECT_TRUE(pulse.is_due(1000 * kMillisecond));
}

}  // namespace
}  // namespace trainwarden::capture
