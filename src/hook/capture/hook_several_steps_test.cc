// Several steps that one call of the program computes, of which the last is seen.
#include <map>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "hook/capture/capture_testing.h"

namespace trainwarden::capture {
namespace {

using Steps = std::vector<std::int64_t>;

class HookSeveralSteps : public testing::Test {
 protected:
  // x at every 10th step, y at steps 3 and 13.
  std::unique_ptr<Hook> open() {
    HookOptions options;
    Collection x, y;
    x.name = "of_x";
    x.include = {"^x$"};
    x.save = SavePolicy::every(10);
    y.name = "of_y";
    y.include = {"^y$"};
    y.save = SavePolicy::of({.save_interval = 1, .end_step = 0, .save_steps = {3, 13}});
    options.collections = {x, y};
    auto hook = open_hook_on(*storage_, options);
    hook->set_mode(Mode::kTrain);
    return hook;
  }
  // A call that computes so many.
  StepEnd call(Hook& hook, std::int64_t at_most, std::int64_t steps) {
    hook.begin_steps(at_most);
    const std::vector<float> value = {1};
    hook.save_tensor("x", view_of(value));
    hook.save_tensor("y", view_of(value));
    return hook.end_steps(steps);
  }
  std::map<std::string, Steps> kept() {
    std::map<std::string, Steps> kept;
    for (const ReadStep& step : read_run(*storage_).steps) {
      for (const auto& [name, value] : step.values) kept[name].push_back(step.entry.mode_step);
    }
    return kept;
  }

  const std::unique_ptr<storage::MemoryStorage> storage_ = storage::create_memory_storage();
};

// None of the last steps is one that the interval wants.
TEST_F(HookSeveralSteps, WhatIsWantedAtOneOfThemIsKeptAtTheLast) {
  const auto hook = open();
  for (int i = 0; i < 6; ++i) EXPECT_EQ(call(*hook, 4, 4).mode_step, 4 * i + 3);
  EXPECT_EQ(hook->global_step(), 24);
  ASSERT_TRUE(hook->close().ok());
  EXPECT_EQ(hook->report().steps, 24);
  EXPECT_EQ(kept(), (std::map<std::string, Steps>{{"x", {3, 11, 23}}, {"y", {3, 15}}}));
}

TEST_F(HookSeveralSteps, TheyMayBeFewerThanWereExpected) {
  const auto hook = open();
  EXPECT_EQ(call(*hook, 8, 2).mode_step, 1);
  EXPECT_EQ(call(*hook, 8, 8).mode_step, 9);
  EXPECT_EQ(call(*hook, 1, 1).mode_step, 10);
  EXPECT_EQ(hook->end_steps(0).mode_step, 11) << "none ends";
  EXPECT_EQ(hook->mode_step(), 11);
  ASSERT_TRUE(hook->close().ok());
  EXPECT_EQ(kept().at("x"), (Steps{1, 10}));
}

TEST_F(HookSeveralSteps, AStepBehindThemIsOneAgain) {
  const auto hook = open();
  call(*hook, 4, 4);
  EXPECT_FALSE(hook->wants_anything());
  hook->begin_steps(7);  // up to step 10
  EXPECT_TRUE(hook->wants("x"));
  EXPECT_FALSE(hook->wants("y"));
  hook->end_step();
  EXPECT_FALSE(hook->wants_anything());
  hook->end_steps(5);
  EXPECT_TRUE(hook->wants("x"));
  EXPECT_EQ(hook->mode_step(), 10);
}

TEST_F(HookSeveralSteps, AnOffHookCountsThem) {
  const auto hook = Hook::disabled();
  hook->begin_steps(3);
  EXPECT_EQ(hook->end_steps(3).global_step, 2);
  EXPECT_EQ(hook->end_step().global_step, 3);
}

}  // namespace
}  // namespace trainwarden::capture
