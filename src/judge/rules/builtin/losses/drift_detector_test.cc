#include "judge/rules/builtin/losses/drift_detector.h"

#include <cmath>

#include <gtest/gtest.h>

#include "judge/rules/builtin/losses/loss_testing.h"

namespace trainwarden::rules {
namespace {

// The first point at which it drifts; -1: never.
std::int64_t first_drift(std::int64_t steps, const LossAt& loss, const DriftLimits& limits = {}) {
  DriftDetector detector(limits);
  for (std::int64_t step = 0; step < steps; ++step) {
    if (detector.add(step, loss(step)).is_drifting) return step;
  }
  return -1;
}

// From 2 down to 1, with noise of `sigma`; from step 300 on it rises by `drift` sigma a step.
LossAt drifting(double sigma, double drift) {
  return [=](std::int64_t step) {
    const auto at = static_cast<double>(step);
    const double rise = step < 300 ? 0 : drift * sigma * (at - 300);
    return 1 + std::exp(-at / 50) + rise + sigma * noise(step);
  };
}

TEST(DriftDetector, DriftsOfATenthToAQuarterOfTheNoise) {
  for (const double sigma : {0.02, 0.1}) {
    for (const double drift : {0.1, 0.25}) {
      const std::int64_t found = first_drift(600, drifting(sigma, drift));
      EXPECT_GT(found, 300) << sigma << " " << drift;
      EXPECT_LE(found, 300 + 0.15 / (drift * sigma) + 60) << sigma << " " << drift;
    }
  }
}

TEST(DriftDetector, HealthyLossesDoNotDrift) {
  for (const double sigma : {0.0, 0.01, 0.1, 0.3}) EXPECT_EQ(first_drift(20'000, drifting(sigma, 0)), -1) << sigma;
  // Noise that grows, a loss that goes on falling, one that stands still, one that never was.
  EXPECT_EQ(first_drift(5000, [](std::int64_t s) { return 2 - 1e-4 * static_cast<double>(s) + 0.05 * noise(s); }), -1);
  EXPECT_EQ(first_drift(5000, [](std::int64_t) { return 1.0; }), -1);
  EXPECT_EQ(first_drift(5000, [](std::int64_t) { return 0.0; }), -1);
}

TEST(DriftDetector, AStepUpThatIsSmallAgainstWhatWasGainedIsNone) {
  const auto waver = [](std::int64_t step) {
    return step < 300 ? 10 * std::exp(-static_cast<double>(step) / 20) : 0.5;
  };
  EXPECT_EQ(first_drift(600, waver), -1);
}

TEST(DriftDetector, ARiseThatHasBeenOverBeforeIsUsual) {
  // Each task of 120 steps begins higher and is learned; from step 960 on a rise is never over again.
  const auto tasks = [](double last) {
    return [=](std::int64_t step) {
      const double in_task = static_cast<double>(step % 240);
      const double rise = in_task < 120 ? in_task / 120 : std::max(0.0, 1 - (in_task - 120) / 40);
      const double after = step < 960 ? 0 : last * static_cast<double>(step - 960);
      return 1 + 3 * std::exp(-static_cast<double>(step) / 20) + (step < 200 ? 0 : 0.6 * rise) + after +
             0.05 * noise(step);
    };
  };
  // The first of these rises is a drift as far as one can know; whoever has seen it end takes the next ones for usual.
  DriftDetector detector({});
  std::int64_t drifts = 0, late = 0;
  for (std::int64_t step = 0; step < 960; ++step) {
    const bool is_drifting = detector.add(step, tasks(0)(step)).is_drifting;
    drifts += is_drifting ? 1 : 0;
    late += is_drifting && step >= 480 ? 1 : 0;
  }
  EXPECT_GT(drifts, 0);
  EXPECT_EQ(late, 0);
  std::int64_t found = -1;
  for (std::int64_t step = 960; step < 1600 && found < 0; ++step)
    found = detector.add(step, tasks(0.005)(step)).is_drifting ? step : -1;
  EXPECT_GT(found, 960);
}

TEST(DriftDetector, TellsSinceWhenAndHowFast) {
  DriftDetector detector({});
  DriftReading reading;
  const LossAt loss = drifting(0.1, 0.2);
  for (std::int64_t step = 0; step < 500 && !reading.is_drifting; ++step) reading = detector.add(step, loss(step));
  ASSERT_TRUE(reading.is_drifting);
  EXPECT_NEAR(static_cast<double>(reading.first_step), 310, 20);
  EXPECT_NEAR(reading.slope, 0.2, 0.1);
  EXPECT_GE(reading.lost, 0.15);
  EXPECT_GT(reading.cusum, 30);
  detector.forget_drift();
  EXPECT_FALSE(detector.add(500, reading.average).is_drifting);
}

}  // namespace
}  // namespace trainwarden::rules
