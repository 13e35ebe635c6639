// The 17 step-state scenarios of smdebug's test suite, and what we define beyond them.
#include "read/trial/step_table.h"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <numeric>
#include <string>

#include <gtest/gtest.h>

namespace trainwarden::trial {
namespace {

using Steps = std::vector<std::int64_t>;

constexpr std::int64_t kWindow = 1000;
constexpr auto kYes = StepState::kAvailable;
constexpr auto kNever = StepState::kUnavailable;
constexpr auto kNotYet = StepState::kNotYetAvailable;

Steps range(std::int64_t first, std::int64_t last) {
  Steps steps(static_cast<std::size_t>(last - first + 1));
  std::iota(steps.begin(), steps.end(), first);
  return steps;
}

void add(StepTable& table, std::initializer_list<int> workers, const Steps& steps) {
  for (const int worker : workers) {
    for (const std::int64_t step : steps) table.add(worker, {step, Mode::kGlobal, step});
  }
}

void expect_states(const StepTable& table, std::initializer_list<std::pair<std::int64_t, StepState>> expected) {
  for (const auto& [step, state] : expected) EXPECT_EQ(table.state(step, Mode::kGlobal), state) << "step " << step;
}

void expect_steps(const StepTable& table, const Steps& known, const Steps& complete, std::int64_t last_complete) {
  EXPECT_EQ(table.steps(Mode::kGlobal, true), known);
  EXPECT_EQ(table.steps(Mode::kGlobal, false), complete);
  EXPECT_EQ(table.last_complete_step(), last_complete);
}

// A table after one refresh.
StepTable settled(int workers, bool finished, const std::function<void(StepTable&)>& fill) {
  StepTable table(workers, kWindow);
  fill(table);
  table.set_finished(finished);
  table.settle();
  return table;
}

TEST(StepTableScenarios, S01_OneWorkerEnded) {
  const auto table = settled(1, true, [](auto& l) { add(l, {0}, range(0, 6)); });
  expect_steps(table, range(0, 6), range(0, 6), 6);
  expect_states(table, {{3, kYes}, {8, kNever}});
  EXPECT_TRUE(table.finished());
}

void add_train_then_eval(StepTable& table) {
  for (const std::int64_t step : {0, 10, 20, 30}) table.add(0, {step, Mode::kTrain, step});
  for (const std::int64_t step : {0, 10, 20, 30}) table.add(0, {step + 40, Mode::kEval, step});
}

TEST(StepTableScenarios, S02_ModesEnded) {
  const auto table = settled(1, true, add_train_then_eval);
  const Steps all = {0, 10, 20, 30, 40, 50, 60, 70};
  expect_steps(table, all, all, 70);
  expect_states(table, {{30, kYes}, {80, kNever}});
  EXPECT_EQ(table.state(23, Mode::kTrain), kNever);
  EXPECT_EQ(table.state(40, Mode::kTrain), kNever);
  EXPECT_EQ(table.state(80, Mode::kTrain), kNever);
  EXPECT_EQ(table.state(30, Mode::kEval), kYes);
  EXPECT_EQ(table.state(23, Mode::kEval), kNever);
  EXPECT_EQ(table.state(80, Mode::kEval), kNever);
}

TEST(StepTableScenarios, S03_ModesRunning) {
  const auto table = settled(1, false, add_train_then_eval);
  expect_states(table, {{30, kYes}, {80, kNotYet}});
  EXPECT_EQ(table.last_complete_step(), 70);
  EXPECT_EQ(table.state(23, Mode::kTrain), kNever);
  EXPECT_EQ(table.state(40, Mode::kTrain), kNotYet);
  EXPECT_EQ(table.state(80, Mode::kTrain), kNotYet);
  EXPECT_EQ(table.state(30, Mode::kEval), kYes);
  EXPECT_EQ(table.state(23, Mode::kEval), kNever);
  EXPECT_EQ(table.state(80, Mode::kEval), kNotYet);
}

TEST(StepTableScenarios, S04_OneWorkerRunning) {
  const auto table = settled(1, false, [](auto& l) { add(l, {0}, range(0, 6)); });
  expect_steps(table, range(0, 6), range(0, 6), 6);
  expect_states(table, {{3, kYes}, {8, kNotYet}});
  EXPECT_FALSE(table.finished());
}

const Steps kWithoutFour = {0, 1, 2, 3, 5, 6};

TEST(StepTableScenarios, S05_HoleEnded) {
  const auto table = settled(1, true, [](auto& l) { add(l, {0}, kWithoutFour); });
  expect_steps(table, kWithoutFour, kWithoutFour, 6);
  expect_states(table, {{3, kYes}, {4, kNever}, {7, kNever}, {8, kNever}});
}

TEST(StepTableScenarios, S06_HoleRunning) {
  const auto table = settled(1, false, [](auto& l) { add(l, {0}, kWithoutFour); });
  expect_steps(table, kWithoutFour, kWithoutFour, 6);
  expect_states(table, {{4, kNever}, {8, kNotYet}});
}

TEST(StepTableScenarios, S07_ThreeWorkersEnded) {
  const auto table = settled(3, true, [](auto& l) { add(l, {0, 1, 2}, range(0, 6)); });
  expect_steps(table, range(0, 6), range(0, 6), 6);
  expect_states(table, {{3, kYes}, {4, kYes}, {8, kNever}});
}

TEST(StepTableScenarios, S08_ThreeWorkersRunning) {
  const auto table = settled(3, false, [](auto& l) { add(l, {0, 1, 2}, range(0, 6)); });
  expect_steps(table, range(0, 6), range(0, 6), 6);
  expect_states(table, {{3, kYes}, {4, kYes}, {8, kNotYet}});
}

void add_without_b_from_3(StepTable& table) {
  add(table, {0, 1, 2}, range(0, 2));
  add(table, {0, 2}, range(3, 6));
}

TEST(StepTableScenarios, S09_WorkerMissingEnded) {
  const auto table = settled(3, true, add_without_b_from_3);
  expect_steps(table, range(0, 6), range(0, 6), 6);
  expect_states(table, {{3, kYes}, {4, kYes}, {6, kYes}, {8, kNever}});
}

TEST(StepTableScenarios, S10_WorkerMissingRunning) {
  const auto table = settled(3, false, add_without_b_from_3);
  expect_steps(table, range(0, 6), range(0, 2), 2);
  expect_states(table, {{2, kYes}, {4, kNotYet}, {6, kNotYet}, {8, kNotYet}});
}

void add_without_b_3_to_5(StepTable& table) {
  add(table, {0, 1, 2}, range(0, 2));
  add(table, {0, 2}, range(3, 5));
  add(table, {0, 1, 2}, {6});
}

TEST(StepTableScenarios, S11_WorkerCaughtUpRunning) {
  const auto table = settled(3, false, add_without_b_3_to_5);
  expect_steps(table, range(0, 6), range(0, 6), 6);
  expect_states(table, {{2, kYes}, {4, kYes}, {6, kYes}, {8, kNotYet}});
}

TEST(StepTableScenarios, S12_HoleAndCaughtUpRunning) {
  const auto table = settled(3, false, [](auto& l) {
    add(l, {0, 1, 2}, range(0, 2));
    add(l, {0, 2}, {4, 5});
    add(l, {0, 1, 2}, {6});
  });
  const Steps known = {0, 1, 2, 4, 5, 6};
  expect_steps(table, known, known, 6);
  expect_states(table, {{3, kNever}, {2, kYes}, {4, kYes}, {6, kYes}, {8, kNotYet}});
}

void add_hole_then_without_b(StepTable& table) {
  add(table, {0, 1, 2}, range(0, 2));
  add(table, {0, 2}, range(4, 6));
}

TEST(StepTableScenarios, S13_HoleAndWorkerMissingRunning) {
  const auto table = settled(3, false, add_hole_then_without_b);
  expect_steps(table, {0, 1, 2, 4, 5, 6}, range(0, 2), 2);
  expect_states(table, {{2, kYes}, {3, kNotYet}, {4, kNotYet}, {6, kNotYet}, {8, kNotYet}});
}

TEST(StepTableScenarios, S14_HoleAndWorkerMissingEnded) {
  const auto table = settled(3, true, add_hole_then_without_b);
  const Steps known = {0, 1, 2, 4, 5, 6};
  expect_steps(table, known, known, 6);
  expect_states(table, {{3, kNever}, {2, kYes}, {4, kYes}, {6, kYes}, {8, kNever}});
}

TEST(StepTableScenarios, S15_WorkerCaughtUpEnded) {  // smdebug hangs on this one
  const auto table = settled(3, true, add_without_b_3_to_5);
  expect_steps(table, range(0, 6), range(0, 6), 6);
  expect_states(table, {{2, kYes}, {4, kYes}, {6, kYes}, {8, kNever}});
}

TEST(StepTableScenarios, S16_WindowPassesStragglers) {
  StepTable table(3, 10);
  add(table, {0}, range(0, 19));
  for (const std::int64_t expected : {4, 9, 9}) {
    table.settle();
    EXPECT_EQ(table.last_complete_step(), expected);
  }
}

TEST(StepTableScenarios, S17_OneOfTwoWorkersWithHoles) {
  const auto table = settled(2, false, [](auto& l) {
    add(l, {0}, range(0, 9));
    add(l, {1}, {0, 1, 2, 5, 6, 7});
  });
  expect_steps(table, range(0, 9), range(0, 7), 7);
  const auto complete_of = [&](const Steps& steps) {
    return std::count_if(steps.begin(), steps.end(), [&](std::int64_t step) { return table.is_complete(step); });
  };
  EXPECT_EQ(complete_of(range(0, 4)), 5);  // a tensor saved at 0 to 4
  EXPECT_EQ(complete_of(range(5, 9)), 3);  // one saved at 5 to 9: 5, 6 and 7
}

TEST(StepTable, EmptyKnowsNothing) {
  const auto table = settled(1, false, [](auto&) {});
  expect_steps(table, {}, {}, -1);
  expect_states(table, {{-1, kNotYet}, {0, kNotYet}});
  EXPECT_TRUE(table.modes().empty());
}

TEST(StepTable, AnEndedWorkerIsNotWaitedFor) {
  StepTable table(2, kWindow);
  add(table, {0}, range(0, 6));
  add(table, {1}, range(0, 2));
  table.settle();
  EXPECT_EQ(table.last_complete_step(), 2);
  table.set_worker_ended(1, true);
  table.settle();
  EXPECT_EQ(table.last_complete_step(), 6);
  EXPECT_FALSE(table.finished());
}

TEST(StepTable, AWorkerThatStartsAgainIsWaitedForAgain) {
  StepTable table(2, kWindow);
  table.set_worker_ended(1, true);
  add(table, {0}, range(0, 3));
  table.settle();
  EXPECT_EQ(table.last_complete_step(), 3);
  table.set_worker_ended(1, false);
  add(table, {0}, range(4, 6));
  add(table, {1}, range(2, 4));
  table.settle();
  EXPECT_EQ(table.last_complete_step(), 4);
}

TEST(StepTable, TheWindowCountsStepsAlsoWhenFewAreSaved) {
  StepTable table(2, 4);
  add(table, {0}, {0, 500, 1000, 1500, 2000});
  table.settle();
  EXPECT_EQ(table.last_complete_step(), 500);
}

TEST(StepTable, StepsComeInAnyOrderAndTheLastWordCounts) {
  StepTable table(1, kWindow);
  table.add(0, {5, Mode::kTrain, 3});
  table.add(0, {2, Mode::kTrain, 2});
  table.settle();
  table.add(0, {5, Mode::kEval, 0});
  table.add(0, {1, Mode::kTrain, 1});
  table.settle();
  EXPECT_EQ(table.steps(Mode::kGlobal, true), (Steps{1, 2, 5}));
  EXPECT_EQ(table.steps(Mode::kTrain, true), (Steps{1, 2}));
  EXPECT_EQ(table.global_step(Mode::kEval, 0), 5);
  EXPECT_EQ(table.global_step(Mode::kTrain, 3), std::nullopt);
  EXPECT_EQ(table.modes(), (std::vector<Mode>{Mode::kTrain, Mode::kEval}));
}

TEST(StepTable, AModeStepEndedTwiceIsTheLaterOne) {
  StepTable table(1, kWindow);
  table.add(0, {3, Mode::kTrain, 0});
  table.add(0, {8, Mode::kTrain, 0});
  table.settle();
  EXPECT_EQ(table.global_step(Mode::kTrain, 0), 8);
  EXPECT_EQ(table.steps(Mode::kTrain, false), (Steps{0}));
}

TEST(StepTable, AWorkerThatTurnsUpLateIsWaitedForFromThenOn) {
  StepTable table(1, kWindow);
  add(table, {0}, range(0, 2));
  table.settle();
  table.set_worker_count(2);
  add(table, {0}, range(3, 5));
  add(table, {1}, {2, 3});
  table.settle();
  expect_steps(table, range(0, 5), range(0, 3), 3);
  table.set_worker_count(1);  // one that has ended a step is enough again
  table.settle();
  EXPECT_EQ(table.last_complete_step(), 5);
}

TEST(StepTable, AsManyAsThereAreHaveToEndAStepWhoeverTheyAre) {
  StepTable table(1, kWindow);
  add(table, {0}, range(0, 2));
  add(table, {4}, {1, 2, 3});
  table.settle();
  expect_steps(table, range(0, 3), range(0, 3), 3);
}

TEST(StepTable, CompleteStepsAfter) {
  const auto table = settled(3, false, add_without_b_from_3);
  EXPECT_EQ(table.complete_steps_after(-1), range(0, 2));
  EXPECT_EQ(table.complete_steps_after(1), (Steps{2}));
  EXPECT_TRUE(table.complete_steps_after(2).empty());
}

TEST(StepTable, TheNextStepIsFoundFromTheOneBefore) {
  const auto table = settled(1, true, [](auto& l) { add(l, {0}, {0, 1, 4, 9}); });
  const StepRow* const one = table.find(1, table.find(0));
  ASSERT_NE(one, nullptr);
  EXPECT_EQ(table.find(4, one)->global_step, 4);
  EXPECT_EQ(table.find(0, one)->global_step, 0);
  EXPECT_EQ(table.find(2, one), nullptr);
  EXPECT_EQ(table.find(9, table.find(9))->global_step, 9);
  EXPECT_EQ(table.find(10, table.find(9)), nullptr);
}

TEST(StepTable, ModesAreIndexedAlsoWhenEarlierStepsComeAgain) {
  StepTable table(1, kWindow);
  const auto take = [&](std::int64_t step, Mode mode, std::int64_t mode_step) {
    table.add(0, {step, mode, mode_step});
    table.settle();
  };
  for (std::int64_t step = 0; step < 6; ++step) take(step, Mode::kTrain, step);
  take(3, Mode::kEval, 0);
  take(6, Mode::kTrain, 4);
  EXPECT_EQ(table.steps(Mode::kTrain, false), (Steps{0, 1, 2, 4, 5}));
  EXPECT_EQ(table.steps(Mode::kEval, false), (Steps{0}));
  EXPECT_EQ(table.global_step(Mode::kTrain, 4), 6);
  EXPECT_EQ(table.global_step(Mode::kEval, 0), 3);
}

TEST(StepTable, StepsOutsideTheRangeAreLeftOut) {
  const auto table = settled(1, false, [](auto& l) { add(l, {0}, {-1, 0}); });
  expect_steps(table, {0}, {0}, 0);
}

}  // namespace
}  // namespace trainwarden::trial
