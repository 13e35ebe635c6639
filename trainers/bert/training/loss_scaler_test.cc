// Growth, backoff and the end of loss scaling.
#include "training/loss_scaler.h"

#include <ATen/Functions.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace bert {
namespace {

TEST(LossScalerTest, GrowsAfterItsIntervalAndFallsAtOnce) {
  LossScaler scaler;
  for (int step = 0; step < 1999; ++step) scaler.update(true);
  EXPECT_EQ(scaler.scale(), 65536);
  scaler.update(true);
  EXPECT_EQ(scaler.scale(), 131072);
  scaler.update(false);
  EXPECT_EQ(scaler.scale(), 65536);
  EXPECT_EQ(scaler.skipped(), 1);
  EXPECT_EQ(scaler.factor(), 1.0 / 65536);
}

TEST(LossScalerTest, AnOverflowBeginsTheIntervalAnew) {
  LossScaler scaler({.first_scale = 8, .growth_interval = 3});
  scaler.update(true);
  scaler.update(true);
  scaler.update(false);
  scaler.update(true);
  scaler.update(true);
  EXPECT_EQ(scaler.scale(), 4);
  scaler.update(true);
  EXPECT_EQ(scaler.scale(), 8);
}

TEST(LossScalerTest, GoesOnFromItsState) {
  LossScaler scaler({.first_scale = 8, .growth_interval = 3});
  scaler.update(true);
  scaler.update(true);
  LossScaler resumed({.first_scale = 2, .growth_interval = 3});
  resumed.load_state(scaler.state());
  resumed.update(true);
  EXPECT_EQ(resumed.scale(), 16);
}

TEST(LossScalerTest, SaysWhereScalingIsNotTheCause) {
  LossScaler scaler({.first_scale = 4, .min_scale = 1});
  scaler.update(false);
  scaler.update(false);
  EXPECT_THROW(scaler.update(false), std::runtime_error);
}

TEST(LossScalerTest, RefusesAStateThatCannotBe) {
  LossScaler scaler;
  NamedTensors state = scaler.state();
  state[0].second.fill_(0);
  EXPECT_THROW(scaler.load_state(state), std::runtime_error);
  EXPECT_EQ(scaler.scale(), 65536);
  EXPECT_THROW(LossScaler({.growth = 1}), std::runtime_error);
}

TEST(LossScalerTest, ScalesTheLoss) {
  const LossScaler scaler;
  EXPECT_EQ(scaler.scaled(at::full({}, 0.5)).item<double>(), 32768);
}

}  // namespace
}  // namespace bert
