#include "trainwarden/save_policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

namespace trainwarden {
namespace {

std::vector<std::int64_t> wanted(const SaveSchedule& schedule, std::int64_t last_step = 30) {
  std::vector<std::int64_t> steps;
  for (std::int64_t step = 0; step <= last_step; ++step) {
    if (schedule.wants(step)) steps.push_back(step);
  }
  return steps;
}

using Steps = std::vector<std::int64_t>;

// smdebug's truth table.
TEST(SaveScheduleTest, WantsWhatSmdebugSaves) {
  SaveSchedule schedule{.save_interval = 3, .start_step = 4, .end_step = 10};
  EXPECT_EQ(wanted(schedule), (Steps{6, 9}));
  schedule.save_steps = {1, 20};
  EXPECT_EQ(wanted(schedule), (Steps{1, 6, 9, 20}));
  EXPECT_EQ(wanted({.end_step = 0}), Steps());
  EXPECT_EQ(wanted({.end_step = 0, .save_steps = {2}}), (Steps{2}));
}

TEST(SaveScheduleTest, TheDefaultIsEvery500Steps) {
  EXPECT_EQ(wanted({}, 1500), (Steps{0, 500, 1000, 1500}));
}

TEST(SaveScheduleTest, TheModuloIsOnTheAbsoluteStep) {
  EXPECT_EQ(wanted({.save_interval = 10, .start_step = 5}), (Steps{10, 20, 30}));
  EXPECT_EQ(wanted({.save_interval = 10, .start_step = 10}), (Steps{10, 20, 30}));
}

TEST(SaveScheduleTest, TheEndIsExclusive) {
  EXPECT_EQ(wanted({.save_interval = 10, .end_step = 20}), (Steps{0, 10}));
  EXPECT_EQ(wanted({.save_interval = 10, .end_step = 21}), (Steps{0, 10, 20}));
}

TEST(SaveScheduleTest, NextWantedIsTheFirstThatIsWanted) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const auto below = [&](std::int64_t limit) {
      return std::uniform_int_distribution(std::int64_t{0}, limit - 1)(random);
    };
    SaveSchedule schedule{.save_interval = 1 + below(7), .start_step = below(20)};
    if (below(2) == 0) schedule.end_step = below(40);
    for (std::int64_t i = below(4); i > 0; --i) schedule.save_steps.push_back(below(60));
    const Steps steps = wanted(schedule, 60);
    for (std::int64_t step = 0; step <= 40; ++step) {
      const auto next = std::find_if(steps.begin(), steps.end(), [&](std::int64_t wanted) { return wanted >= step; });
      const auto expected = next == steps.end() ? std::nullopt : std::optional(*next);
      EXPECT_EQ(schedule.next_wanted(step), expected);
    }
  }
}

TEST(SaveScheduleTest, ExtremesDoNoHarm) {
  constexpr auto kLast = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(SaveSchedule{}.next_wanted(kLast), std::nullopt);
  EXPECT_EQ(SaveSchedule{.save_interval = 1}.next_wanted(kLast), kLast);
  EXPECT_EQ((SaveSchedule{.save_interval = 0, .save_steps = {4}}).next_wanted(0), 4);
  EXPECT_EQ((SaveSchedule{.save_interval = -3}).next_wanted(0), std::nullopt);
  EXPECT_EQ((SaveSchedule{.save_interval = 10, .start_step = -15}).next_wanted(-100), -10);
}

TEST(SaveScheduleTest, AFactorStretchesTheIntervalAndLeavesListedStepsAlone) {
  const SaveSchedule schedule{.save_interval = 10, .start_step = 5, .end_step = 100, .save_steps = {7}};
  EXPECT_TRUE(schedule.wants(10));
  EXPECT_FALSE(schedule.wants(10, 4));
  EXPECT_TRUE(schedule.wants(40, 4));
  EXPECT_TRUE(schedule.wants(7, 4));
  EXPECT_TRUE(schedule.lists(7));
  EXPECT_FALSE(schedule.lists(10));
  EXPECT_EQ(schedule.next_wanted(8, 4), 40);
  EXPECT_EQ(schedule.next_wanted(81, 4), std::nullopt) << "120 is past the end";
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ((SaveSchedule{.save_interval = kMost}).next_wanted(1, 2), kMost) << "no overflow";
}

TEST(SavePolicyTest, EveryIsForAllModes) {
  const SavePolicy policy = SavePolicy::every(7);
  for (const Mode mode : kAllModes) {
    ASSERT_TRUE(policy[mode].has_value());
    EXPECT_EQ(policy[mode]->save_interval, 7);
  }
  EXPECT_EQ(policy, SavePolicy::of({.save_interval = 7}));
}

TEST(SavePolicyTest, HolesAreFilledFromAbove) {
  SavePolicy own;
  own[Mode::kEval] = SaveSchedule{.save_interval = 2};
  SavePolicy above;
  above[Mode::kEval] = SaveSchedule{.save_interval = 100};
  above[Mode::kTrain] = SaveSchedule{.save_interval = 10};
  const SavePolicy filled = own.filled_from(above);
  EXPECT_EQ(filled[Mode::kEval]->save_interval, 2);
  EXPECT_EQ(filled[Mode::kTrain]->save_interval, 10);
  EXPECT_FALSE(filled[Mode::kPredict].has_value());
}

}  // namespace
}  // namespace trainwarden
