// The step states of runs of smdebug's: what its own reader says of seventeen folders, which its tests describe.
//
// Ours differs from smdebug's in one rule only, the window (step_table.h), and agrees with it here, where steps are
// dense. Its tokens, which say where listing goes on, have no counterpart.
#include <vector>

#include <gtest/gtest.h>

#include "data/foreign/smdebug_layout.h"
#include "read/trial/smdebug/smdebug_testing.h"

namespace trainwarden {
namespace {

using Steps = std::vector<std::int64_t>;
constexpr auto kAvailable = StepState::kAvailable;
constexpr auto kUnavailable = StepState::kUnavailable;
constexpr auto kStillOpen = StepState::kNotYetAvailable;
constexpr std::chrono::milliseconds kNow{0};

const std::vector<std::string> kAbc = {"worker_0", "worker_1", "worker_2"};
const std::vector<std::string> kAc = {"worker_0", "worker_2"};
const Steps kSeven = {0, 1, 2, 3, 4, 5, 6};
const Steps kWithoutThree = {0, 1, 2, 4, 5, 6};
const Steps kAllButFour = {0, 1, 2, 3, 5, 6};
const Steps kFirstThree = {0, 1, 2};

struct Expected {
  Steps known;
  Steps complete;
  std::int64_t last_complete = -1;
  std::vector<std::pair<std::int64_t, StepState>> states;
};

void expect(const Trial& trial, const Expected& expected) {
  EXPECT_EQ(trial.steps(Mode::kGlobal, true), expected.known);
  EXPECT_EQ(trial.steps(), expected.complete);
  EXPECT_EQ(trial.last_complete_step(), expected.last_complete);
  for (const auto& [step, state] : expected.states) EXPECT_EQ(trial.step_state(step), state) << "step " << step;
}

SmdebugTestRun one_worker(bool with_step_four) {
  SmdebugTestRun run;
  run.add_steps(0, 3);
  run.add_steps(with_step_four ? 4 : 5, 6);
  return run;
}

TEST(StepStateScenarios, S1OneWorkerEnded) {
  SmdebugTestRun run = one_worker(true);
  run.end();
  const auto trial = run.open();
  expect(*trial, {kSeven, kSeven, 6, {{3, kAvailable}, {8, kUnavailable}}});
  EXPECT_TRUE(trial->loaded_all_steps());
}

// Global steps 0 to 30 are train steps, 40 to 70 eval steps; both modes count 0, 10, 20, 30.
SmdebugTestRun two_modes() {
  SmdebugTestRun run;
  for (std::int64_t step = 0; step <= 70; step += 10) {
    const bool train = step < 40;
    run.add({.step = step, .mode = train ? Mode::kTrain : Mode::kEval, .mode_step = train ? step : step - 40});
  }
  return run;
}

void expect_two_modes(const Trial& trial, StepState beyond) {
  const Steps all = {0, 10, 20, 30, 40, 50, 60, 70};
  expect(trial, {all, all, 70, {{30, kAvailable}, {80, beyond}}});
  EXPECT_EQ(trial.step_state(23, Mode::kTrain), kUnavailable);
  EXPECT_EQ(trial.step_state(40, Mode::kTrain), beyond);
  EXPECT_EQ(trial.step_state(30, Mode::kEval), kAvailable);
  EXPECT_EQ(trial.step_state(23, Mode::kEval), kUnavailable);
  EXPECT_EQ(trial.step_state(80, Mode::kTrain), beyond);
  EXPECT_EQ(trial.step_state(80, Mode::kEval), beyond);
}

TEST(StepStateScenarios, S2TwoModesEnded) {
  SmdebugTestRun run = two_modes();
  run.end();
  expect_two_modes(*run.open(), kUnavailable);
}

TEST(StepStateScenarios, S3TwoModes) {
  expect_two_modes(*two_modes().open(), kStillOpen);
}

TEST(StepStateScenarios, S4OneWorker) {
  const auto trial = one_worker(true).open();
  expect(*trial, {kSeven, kSeven, 6, {{3, kAvailable}, {8, kStillOpen}}});
  EXPECT_TRUE(trial->wait_for_steps(kSeven, Mode::kGlobal, kNow).ok());
}

TEST(StepStateScenarios, S5OneWorkerWithoutAStepEnded) {
  SmdebugTestRun run = one_worker(false);
  run.end();
  const auto trial = run.open();
  expect(*trial, {kAllButFour, kAllButFour, 6, {{3, kAvailable}, {4, kUnavailable}, {8, kUnavailable}}});
  EXPECT_TRUE(trial->wait_for_steps(kAllButFour, Mode::kGlobal, kNow).ok());
  // smdebug's StepUnavailable and NoMoreData: a step below the last one, and one after it.
  const Status skipped = trial->wait_for_steps(Steps{4}, Mode::kGlobal, kNow);
  EXPECT_EQ(skipped.code(), Code::kOutOfRange);
  EXPECT_NE(skipped.message().find("was not saved"), std::string::npos) << skipped.message();
  const Status beyond = trial->wait_for_steps(Steps{7}, Mode::kGlobal, kNow);
  EXPECT_EQ(beyond.code(), Code::kOutOfRange);
  EXPECT_NE(beyond.message().find("will never come"), std::string::npos) << beyond.message();
}

TEST(StepStateScenarios, S6OneWorkerWithoutAStep) {
  expect(*one_worker(false).open(), {kAllButFour, kAllButFour, 6, {{4, kUnavailable}, {8, kStillOpen}}});
}

TEST(StepStateScenarios, S7ThreeWorkersEnded) {
  SmdebugTestRun run(3);
  run.add_steps(0, 6, kAbc);
  run.end();
  expect(*run.open(), {kSeven, kSeven, 6, {{3, kAvailable}, {4, kAvailable}, {8, kUnavailable}}});
}

TEST(StepStateScenarios, S8ThreeWorkers) {
  SmdebugTestRun run(3);
  run.add_steps(0, 6, kAbc);
  expect(*run.open(), {kSeven, kSeven, 6, {{3, kAvailable}, {4, kAvailable}, {8, kStillOpen}}});
}

TEST(StepStateScenarios, S9OneWorkerFellSilentEnded) {
  SmdebugTestRun run(3);
  run.add_steps(0, 2, kAbc);
  run.add_steps(3, 6, kAc);
  run.end();
  expect(*run.open(), {kSeven, kSeven, 6, {{3, kAvailable}, {4, kAvailable}, {6, kAvailable}, {8, kUnavailable}}});
}

TEST(StepStateScenarios, S10OneWorkerFellSilent) {
  SmdebugTestRun run(3);
  run.add_steps(0, 2, kAbc);
  run.add_steps(3, 6, kAc);
  expect(*run.open(), {kSeven, kFirstThree, 2, {{2, kAvailable}, {4, kStillOpen}, {6, kStillOpen}, {8, kStillOpen}}});
}

SmdebugTestRun one_worker_came_back() {
  SmdebugTestRun run(3);
  run.add_steps(0, 2, kAbc);
  run.add_steps(3, 5, kAc);
  run.add_steps(6, 6, kAbc);
  return run;
}

TEST(StepStateScenarios, S11OneWorkerCameBack) {
  expect(*one_worker_came_back().open(),
         {kSeven, kSeven, 6, {{2, kAvailable}, {4, kAvailable}, {6, kAvailable}, {8, kStillOpen}}});
}

TEST(StepStateScenarios, S12NobodyWroteAStep) {
  SmdebugTestRun run(3);
  run.add_steps(0, 2, kAbc);
  run.add_steps(4, 5, kAc);
  run.add_steps(6, 6, kAbc);
  expect(*run.open(), {kWithoutThree,
                       kWithoutThree,
                       6,
                       {{3, kUnavailable}, {2, kAvailable}, {4, kAvailable}, {6, kAvailable}, {8, kStillOpen}}});
}

SmdebugTestRun silent_after_a_gap() {
  SmdebugTestRun run(3);
  run.add_steps(0, 2, kAbc);
  run.add_steps(4, 6, kAc);
  return run;
}

TEST(StepStateScenarios, S13SilentAfterAGap) {
  expect(*silent_after_a_gap().open(),
         {kWithoutThree,
          kFirstThree,
          2,
          {{2, kAvailable}, {3, kStillOpen}, {4, kStillOpen}, {6, kStillOpen}, {8, kStillOpen}}});
}

TEST(StepStateScenarios, S14SilentAfterAGapEnded) {
  SmdebugTestRun run = silent_after_a_gap();
  run.end();
  expect(*run.open(), {kWithoutThree,
                       kWithoutThree,
                       6,
                       {{3, kUnavailable}, {2, kAvailable}, {4, kAvailable}, {6, kAvailable}, {8, kUnavailable}}});
}

TEST(StepStateScenarios, S15OneWorkerCameBackEnded) {
  SmdebugTestRun run = one_worker_came_back();
  run.end();
  expect(*run.open(), {kSeven, kSeven, 6, {{2, kAvailable}, {4, kAvailable}, {6, kAvailable}, {8, kUnavailable}}});
}

TEST(StepStateScenarios, S16TheWindowPassesStragglers) {
  SmdebugTestRun run(3);
  run.add_steps(0, 19);
  const auto trial = run.open({.incomplete_step_window = 10});
  EXPECT_EQ(trial->last_complete_step(), 4);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(trial->refresh().ok());
    EXPECT_EQ(trial->last_complete_step(), 9);
  }
}

TEST(StepStateScenarios, S17TensorsOfSomeSteps) {
  SmdebugTestRun run(2);
  for (std::int64_t step = 0; step <= 9; ++step) {
    const std::string tensor = step < 5 ? "losses" : "gradients";
    const bool lost = step == 3 || step == 4 || step >= 8;
    run.add({.step = step, .tensors = {{tensor, {1}}}});
    if (!lost) run.add({.step = step, .worker = "worker_1", .tensors = {{tensor, {1}}}});
  }
  const auto trial = run.open();
  expect(*trial, {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {0, 1, 2, 3, 4, 5, 6, 7}, 7, {}});
  EXPECT_EQ(trial->steps_of("losses"), (Steps{0, 1, 2, 3, 4}));
  EXPECT_EQ(trial->steps_of("gradients"), (Steps{5, 6, 7}));
}

}  // namespace
}  // namespace trainwarden
