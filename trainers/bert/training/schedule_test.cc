// Learning rates of the schedules, by their published formulas.
#include "training/schedule.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace bert {
namespace {

TEST(ScheduleTest, LinearIsThatOfHuggingFace) {
  const Schedule schedule{.peak = 2, .warmup_steps = 10, .total_steps = 110};
  EXPECT_DOUBLE_EQ(schedule.learning_rate(0), 0);
  EXPECT_DOUBLE_EQ(schedule.learning_rate(5), 1);
  EXPECT_DOUBLE_EQ(schedule.learning_rate(10), 2);
  EXPECT_DOUBLE_EQ(schedule.learning_rate(60), 1);
  EXPECT_DOUBLE_EQ(schedule.learning_rate(110), 0);
  EXPECT_DOUBLE_EQ(schedule.learning_rate(1000), 0);
}

TEST(ScheduleTest, FromStartJumpsDownWhereWarmUpEnds) {
  const Schedule schedule{.peak = 2, .warmup_steps = 10, .total_steps = 100, .decay = Decay::kLinearFromStart};
  EXPECT_DOUBLE_EQ(schedule.learning_rate(9), 1.8);
  EXPECT_DOUBLE_EQ(schedule.learning_rate(10), 1.8);  // 2 · (1 - 10/100), not 2
  EXPECT_DOUBLE_EQ(schedule.learning_rate(50), 1);
  EXPECT_DOUBLE_EQ(schedule.learning_rate(101), 0);
}

TEST(ScheduleTest, ConstantStaysAtItsPeak) {
  const Schedule schedule{.peak = 3, .warmup_steps = 2, .total_steps = 4, .decay = Decay::kConstant};
  EXPECT_DOUBLE_EQ(schedule.learning_rate(1), 1.5);
  EXPECT_DOUBLE_EQ(schedule.learning_rate(1000), 3);
}

TEST(ScheduleTest, AWarmUpOfAllStepsHasNoDecay) {
  const Schedule schedule{.peak = 1, .warmup_steps = 4, .total_steps = 4};
  EXPECT_DOUBLE_EQ(schedule.learning_rate(3), 0.75);
  EXPECT_DOUBLE_EQ(schedule.learning_rate(4), 0);
}

TEST(ScheduleTest, AProportionIsCutToSteps) {
  EXPECT_EQ(warmup_steps(0.1, 1099), 109);
  EXPECT_EQ(warmup_steps(0, 5), 0);
  EXPECT_THROW(warmup_steps(1.5, 5), std::runtime_error);
}

TEST(ScheduleTest, SaysWhatCannotBe) {
  EXPECT_EQ(decay_from_name("linear_from_start"), Decay::kLinearFromStart);
  EXPECT_THROW(decay_from_name("cosine"), std::runtime_error);
  EXPECT_THROW((Schedule{.warmup_steps = 5, .total_steps = 4}.check()), std::runtime_error);
  EXPECT_THROW((Schedule{.peak = -1, .total_steps = 4}.check()), std::runtime_error);
  EXPECT_NO_THROW((Schedule{.warmup_steps = 4, .total_steps = 4}.check()));
}

}  // namespace
}  // namespace bert
