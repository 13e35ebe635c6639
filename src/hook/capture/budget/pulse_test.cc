#include "hook/capture/budget/pulse.h"

#include <vector>

#include <gtest/gtest.h>

#include "hook/capture/capture_testing.h"

namespace trainwarden::capture {
namespace {

TEST(Pulse, IsOffUntilSwitchedOn) {
  const Pulse pulse;
  EXPECT_FALSE(pulse.is_due(1'000'000 * kMillisecond, 0));
}

TEST(Pulse, FirstComesASecondAfterTheLastStepThatWasKept) {
  Pulse pulse;
  pulse.switch_on(0, 0);
  EXPECT_FALSE(pulse.is_due(999 * kMillisecond, 3));
  EXPECT_TRUE(pulse.is_due(1000 * kMillisecond, 3));
  pulse.begin_step(Pulse::Kept::kByItsInterval, 500 * kMillisecond, 2, 0);
  pulse.begin_step(Pulse::Kept::kNot, 600 * kMillisecond, 3, 300 * kMillisecond);
  EXPECT_FALSE(pulse.is_due(1499 * kMillisecond, 4)) << "what other steps cost is no matter";
  EXPECT_TRUE(pulse.is_due(1500 * kMillisecond, 4));
}

TEST(Pulse, ThenComesAtMultiplesOfAPowerOfTwo) {
  Pulse pulse;
  pulse.switch_on(0, 0);
  pulse.begin_step(Pulse::Kept::kByThePulse, 1000 * kMillisecond, 100, 0);  // steps of 10 ms: 128 are near a second
  pulse.begin_step(Pulse::Kept::kNot, 1010 * kMillisecond, 101, 0);
  EXPECT_FALSE(pulse.is_due(2000 * kMillisecond, 200));
  EXPECT_FALSE(pulse.is_due(1280 * kMillisecond, 128)) << "there has just been one";
  EXPECT_TRUE(pulse.is_due(2560 * kMillisecond, 256));
}

TEST(Pulse, IsRarerWhereItIsDear) {
  Pulse pulse;
  pulse.switch_on(0, 0);
  pulse.begin_step(Pulse::Kept::kByThePulse, 1000 * kMillisecond, 10, 0);
  pulse.begin_step(Pulse::Kept::kNot, 1100 * kMillisecond, 11,
                   10 * kMillisecond);  // it cost 10 ms: four seconds' worth
  EXPECT_TRUE(pulse.is_due(1600 * kMillisecond, 16));
  pulse.begin_step(Pulse::Kept::kByThePulse, 1600 * kMillisecond, 16, 10 * kMillisecond);
  EXPECT_FALSE(pulse.is_due(2400 * kMillisecond, 24));
  EXPECT_TRUE(pulse.is_due(3200 * kMillisecond, 32));
}

TEST(Pulse, IsNotLostWhenStepsBecomeLonger) {
  Pulse pulse;
  pulse.switch_on(0, 0);
  pulse.begin_step(Pulse::Kept::kByThePulse, 1000 * kMillisecond, 1000, 0);  // steps of 1 ms: each 1024th
  EXPECT_FALSE(pulse.is_due(4999 * kMillisecond, 1004));
  EXPECT_TRUE(pulse.is_due(5000 * kMillisecond, 1004));  // of 1 s since then
  pulse.begin_step(Pulse::Kept::kByThePulse, 5000 * kMillisecond, 1004, 0);
  EXPECT_TRUE(pulse.is_due(6000 * kMillisecond, 1005)) << "it has learned how long they are";
}

TEST(Pulse, StepsThatAreNotKeptDoNotPutItOff) {
  Pulse pulse;
  pulse.switch_on(0, 0);
  for (int i = 1; i < 100; ++i) pulse.begin_step(Pulse::Kept::kNot, i * 10 * kMillisecond, i, 0);
  EXPECT_TRUE(pulse.is_due(1000 * kMillisecond, 100));
}

// The steps that a worker keeps whose steps take `step_ns`, and whose clock is ahead by `ahead_ns`.
std::vector<std::int64_t> pulses_of(std::int64_t step_ns, std::int64_t ahead_ns) {
  Pulse pulse;
  pulse.switch_on(ahead_ns, 0);
  std::vector<std::int64_t> kept;
  for (std::int64_t step = 0; step < 30'000'000'000 / step_ns; ++step) {
    const std::int64_t now_ns = step * step_ns;
    const bool is_due = pulse.is_due(now_ns, step);
    if (is_due) kept.push_back(step);
    pulse.begin_step(is_due ? Pulse::Kept::kByThePulse : Pulse::Kept::kNot, now_ns, step, 0);
  }
  return kept;
}

TEST(Pulse, WorkersKeepTheSameSteps) {
  for (const std::int64_t step_ms : {1, 7, 30, 200, 2000}) {
    auto first = pulses_of(step_ms * kMillisecond, 0);
    auto second = pulses_of(step_ms * kMillisecond, 20 * kMillisecond);
    ASSERT_GE(first.size(), 14U) << step_ms;
    // At first it is not known how long steps are.
    const auto is_early = [&](std::int64_t step) { return step * step_ms < 2500; };
    std::erase_if(first, is_early);
    std::erase_if(second, is_early);
    EXPECT_EQ(first, second) << step_ms;
  }
}

}  // namespace
}  // namespace trainwarden::capture
