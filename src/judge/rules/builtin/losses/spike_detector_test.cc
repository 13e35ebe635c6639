#include "judge/rules/builtin/losses/spike_detector.h"

#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace trainwarden::rules {
namespace {

// A falling loss with log-normal noise.
class Loss {
 public:
  explicit Loss(double noise) : noise_(0, noise) {}
  double at(std::int64_t step) {
    return std::exp(0.7 * std::exp(-static_cast<double>(step) / 100) - 1 + noise_(engine_));
  }

 private:
  std::mt19937 engine_{7};
  std::normal_distribution<double> noise_;
};

std::int64_t learn(SpikeDetector& detector, Loss& loss, std::int64_t steps = 200) {
  for (std::int64_t step = 0; step < steps; ++step) {
    const SpikeState state = detector.add(step, loss.at(step)).state;
    EXPECT_EQ(state, step < SpikeDetector::kLearningPoints ? SpikeState::kLearning : SpikeState::kCalm) << step;
  }
  return steps;
}

TEST(SpikeDetector, NoiseIsCalm) {
  for (const double noise : {0.0, 0.01, 0.1, 0.5, 1.5}) {
    SpikeDetector detector({});
    Loss loss(noise);
    learn(detector, loss, 20'000);
  }
}

TEST(SpikeDetector, ASpikeThatRecovers) {
  SpikeDetector detector({});
  Loss loss(0.05);
  std::int64_t step = learn(detector, loss);
  const SpikeReading began = detector.add(step, 3);
  EXPECT_EQ(began.state, SpikeState::kSpiking);
  EXPECT_EQ(began.first_step, step);
  EXPECT_GT(began.z, 6);
  EXPECT_NEAR(began.ratio * began.baseline, 3, 1e-12);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(detector.add(++step, 2).state, SpikeState::kSpiking);
  const double back = loss.at(step);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(detector.add(++step, back).state, SpikeState::kSpiking);
  const SpikeReading over = detector.add(++step, back);
  EXPECT_EQ(over.state, SpikeState::kRecovered);
  EXPECT_EQ(over.peak, 3);
  EXPECT_EQ(over.points, 8);
  EXPECT_EQ(detector.add(++step, back).state, SpikeState::kCalm);
}

TEST(SpikeDetector, ASpikeThatLasts) {
  SpikeDetector detector({.recovery = 10});
  Loss loss(0.05);
  const std::int64_t first = learn(detector, loss);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(detector.add(first + i, 3).state, SpikeState::kSpiking) << i;
  const SpikeReading lasting = detector.add(first + 10, 3);
  EXPECT_EQ(lasting.state, SpikeState::kLasting);
  EXPECT_EQ(lasting.first_step, first);
}

TEST(SpikeDetector, TheRatioIsAskedForToo) {
  SpikeDetector detector({.z = 3, .ratio = 2});
  for (int step = 0; step < 100; ++step) detector.add(step, 1);
  EXPECT_EQ(detector.add(100, 2).state, SpikeState::kCalm);  // not more than twice
  EXPECT_EQ(detector.add(101, 3).state, SpikeState::kSpiking);
}

TEST(SpikeDetector, WhatHasNoLogarithmIsLeftOut) {
  SpikeDetector detector({});
  EXPECT_EQ(detector.start_level(), 0);
  for (int step = 0; step < 100; ++step) detector.add(step, 2);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double x : {0.0, -1.0, nan, std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(detector.add(100, x).state, SpikeState::kUnfit);
  }
  EXPECT_EQ(detector.add(101, 2).state, SpikeState::kCalm);
  EXPECT_NEAR(detector.start_level(), 2, 1e-12);
}

}  // namespace
}  // namespace trainwarden::rules
