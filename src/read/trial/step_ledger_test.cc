// The 17 step-state scenarios of smdebug's test suite, and what we define beyond them.
#include "read/trial/step_ledger.h"

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

void add(StepLedger& ledger, std::initializer_list<int> workers, const Steps& steps) {
  for (const int worker : workers) {
    for (const std::int64_t step : steps) ledger.add(worker, {step, Mode::kGlobal, step});
  }
}

void expect_states(const StepLedger& ledger, std::initializer_list<std::pair<std::int64_t, StepState>> expected) {
  for (const auto& [step, state] : expected) EXPECT_EQ(ledger.state(step, Mode::kGlobal), state) << "step " << step;
}

void expect_steps(const StepLedger& ledger, const Steps& known, const Steps& complete, std::int64_t last_complete) {
  EXPECT_EQ(ledger.steps(Mode::kGlobal, true), known);
  EXPECT_EQ(ledger.steps(Mode::kGlobal, false), complete);
  EXPECT_EQ(ledger.last_complete_step(), last_complete);
}

// A ledger after one refresh.
StepLedger settled(int workers, bool finished, const std::function<void(StepLedger&)>& fill) {
  StepLedger ledger(workers, kWindow);
  fill(ledger);
  ledger.set_finished(finished);
  ledger.settle();
  return ledger;
}

TEST(StepLedgerScenarios, S01_OneWorkerEnded) {
  const auto ledger = settled(1, true, [](auto& l) { add(l, {0}, range(0, 6)); });
  expect_steps(ledger, range(0, 6), range(0, 6), 6);
  expect_states(ledger, {{3, kYes}, {8, kNever}});
  EXPECT_TRUE(ledger.finished());
}

void add_train_then_eval(StepLedger& ledger) {
  for (const std::int64_t step : {0, 10, 20, 30}) ledger.add(0, {step, Mode::kTrain, step});
  for (const std::int64_t step : {0, 10, 20, 30}) ledger.add(0, {step + 40, Mode::kEval, step});
}

TEST(StepLedgerScenarios, S02_ModesEnded) {
  const auto ledger = settled(1, true, add_train_then_eval);
  const Steps all = {0, 10, 20, 30, 40, 50, 60, 70};
  expect_steps(ledger, all, all, 70);
  expect_states(ledger, {{30, kYes}, {80, kNever}});
  EXPECT_EQ(ledger.state(23, Mode::kTrain), kNever);
  EXPECT_EQ(ledger.state(40, Mode::kTrain), kNever);
  EXPECT_EQ(ledger.state(80, Mode::kTrain), kNever);
  EXPECT_EQ(ledger.state(30, Mode::kEval), kYes);
  EXPECT_EQ(ledger.state(23, Mode::kEval), kNever);
  EXPECT_EQ(ledger.state(80, Mode::kEval), kNever);
}

TEST(StepLedgerScenarios, S03_ModesRunning) {
  const auto ledger = settled(1, false, add_train_then_eval);
  expect_states(ledger, {{30, kYes}, {80, kNotYet}});
  EXPECT_EQ(ledger.last_complete_step(), 70);
  EXPECT_EQ(ledger.state(23, Mode::kTrain), kNever);
  EXPECT_EQ(ledger.state(40, Mode::kTrain), kNotYet);
  EXPECT_EQ(ledger.state(80, Mode::kTrain), kNotYet);
  EXPECT_EQ(ledger.state(30, Mode::kEval), kYes);
  EXPECT_EQ(ledger.state(23, Mode::kEval), kNever);
  EXPECT_EQ(ledger.state(80, Mode::kEval), kNotYet);
}

TEST(StepLedgerScenarios, S04_OneWorkerRunning) {
  const auto ledger = settled(1, false, [](auto& l) { add(l, {0}, range(0, 6)); });
  expect_steps(ledger, range(0, 6), range(0, 6), 6);
  expect_states(ledger, {{3, kYes}, {8, kNotYet}});
  EXPECT_FALSE(ledger.finished());
}

const Steps kWithoutFour = {0, 1, 2, 3, 5, 6};

TEST(StepLedgerScenarios, S05_HoleEnded) {
  const auto ledger = settled(1, true, [](auto& l) { add(l, {0}, kWithoutFour); });
  expect_steps(ledger, kWithoutFour, kWithoutFour, 6);
  expect_states(ledger, {{3, kYes}, {4, kNever}, {7, kNever}, {8, kNever}});
}

TEST(StepLedgerScenarios, S06_HoleRunning) {
  const auto ledger = settled(1, false, [](auto& l) { add(l, {0}, kWithoutFour); });
  expect_steps(ledger, kWithoutFour, kWithoutFour, 6);
  expect_states(ledger, {{4, kNever}, {8, kNotYet}});
}

TEST(StepLedgerScenarios, S07_ThreeWorkersEnded) {
  const auto ledger = settled(3, true, [](auto& l) { add(l, {0, 1, 2}, range(0, 6)); });
  expect_steps(ledger, range(0, 6), range(0, 6), 6);
  expect_states(ledger, {{3, kYes}, {4, kYes}, {8, kNever}});
}

TEST(StepLedgerScenarios, S08_ThreeWorkersRunning) {
  const auto ledger = settled(3, false, [](auto& l) { add(l, {0, 1, 2}, range(0, 6)); });
  expect_steps(ledger, range(0, 6), range(0, 6), 6);
  expect_states(ledger, {{3, kYes}, {4, kYes}, {8, kNotYet}});
}

void add_without_b_from_3(StepLedger& ledger) {
  add(ledger, {0, 1, 2}, range(0, 2));
  add(ledger, {0, 2}, range(3, 6));
}

TEST(StepLedgerScenarios, S09_WorkerMissingEnded) {
  const auto ledger = settled(3, true, add_without_b_from_3);
  expect_steps(ledger, range(0, 6), range(0, 6), 6);
  expect_states(ledger, {{3, kYes}, {4, kYes}, {6, kYes}, {8, kNever}});
}

TEST(StepLedgerScenarios, S10_WorkerMissingRunning) {
  const auto ledger = settled(3, false, add_without_b_from_3);
  expect_steps(ledger, range(0, 6), range(0, 2), 2);
  expect_states(ledger, {{2, kYes}, {4, kNotYet}, {6, kNotYet}, {8, kNotYet}});
}

void add_without_b_3_to_5(StepLedger& ledger) {
  add(ledger, {0, 1, 2}, range(0, 2));
  add(ledger, {0, 2}, range(3, 5));
  add(ledger, {0, 1, 2}, {6});
}

TEST(StepLedgerScenarios, S11_WorkerCaughtUpRunning) {
  const auto ledger = settled(3, false, add_without_b_3_to_5);
  expect_steps(ledger, range(0, 6), range(0, 6), 6);
  expect_states(ledger, {{2, kYes}, {4, kYes}, {6, kYes}, {8, kNotYet}});
}

TEST(StepLedgerScenarios, S12_HoleAndCaughtUpRunning) {
  const auto ledger = settled(3, false, [](auto& l) {
    add(l, {0, 1, 2}, range(0, 2));
    add(l, {0, 2}, {4, 5});
    add(l, {0, 1, 2}, {6});
  });
  const Steps known = {0, 1, 2, 4, 5, 6};
  expect_steps(ledger, known, known, 6);
  expect_states(ledger, {{3, kNever}, {2, kYes}, {4, kYes}, {6, kYes}, {8, kNotYet}});
}

void add_hole_then_without_b(StepLedger& ledger) {
  add(ledger, {0, 1, 2}, range(0, 2));
  add(ledger, {0, 2}, range(4, 6));
}

TEST(StepLedgerScenarios, S13_HoleAndWorkerMissingRunning) {
  const auto ledger = settled(3, false, add_hole_then_without_b);
  expect_steps(ledger, {0, 1, 2, 4, 5, 6}, range(0, 2), 2);
  expect_states(ledger, {{2, kYes}, {3, kNotYet}, {4, kNotYet}, {6, kNotYet}, {8, kNotYet}});
}

TEST(StepLedgerScenarios, S14_HoleAndWorkerMissingEnded) {
  const auto ledger = settled(3, true, add_hole_then_without_b);
  const Steps known = {0, 1, 2, 4, 5, 6};
  expect_steps(ledger, known, known, 6);
  expect_states(ledger, {{3, kNever}, {2, kYes}, {4, kYes}, {6, kYes}, {8, kNever}});
}

TEST(StepLedgerScenarios, S15_WorkerCaughtUpEnded) {  // smdebug hangs on this one
  const auto ledger = settled(3, true, add_without_b_3_to_5);
  expect_steps(ledger, range(0, 6), range(0, 6), 6);
  expect_states(ledger, {{2, kYes}, {4, kYes}, {6, kYes}, {8, kNever}});
}

TEST(StepLedgerScenarios, S16_WindowPassesStragglers) {
  StepLedger ledger(3, 10);
  add(ledger, {0}, range(0, 19));
  for (const std::int64_t expected : {4, 9, 9}) {
    ledger.settle();
    EXPECT_EQ(ledger.last_complete_step(), expected);
  }
}

TEST(StepLedgerScenarios, S17_OneOfTwoWorkersWithHoles) {
  const auto ledger = settled(2, false, [](auto& l) {
    add(l, {0}, range(0, 9));
    add(l, {1}, {0, 1, 2, 5, 6, 7});
  });
  expect_steps(ledger, range(0, 9), range(0, 7), 7);
  const auto complete_of = [&](const Steps& steps) {
    return std::count_if(steps.begin(), steps.end(), [&](std::int64_t step) { return ledger.is_complete(step); });
  };
  EXPECT_EQ(complete_of(range(0, 4)), 5);  // a tensor saved at 0 to 4
  EXPECT_EQ(complete_of(range(5, 9)), 3);  // one saved at 5 to 9: 5, 6 and 7
}

TEST(StepLedger, EmptyKnowsNothing) {
  const auto ledger = settled(1, false, [](auto&) {});
  expect_steps(ledger, {}, {}, -1);
  expect_states(ledger, {{-1, kNotYet}, {0, kNotYet}});
  EXPECT_TRUE(ledger.modes().empty());
}

TEST(StepLedger, AnEndedWorkerIsNotWaitedFor) {
  StepLedger ledger(2, kWindow);
  add(ledger, {0}, range(0, 6));
  add(ledger, {1}, range(0, 2));
  ledger.settle();
  EXPECT_EQ(ledger.last_complete_step(), 2);
  ledger.set_worker_ended(1, true);
  ledger.settle();
  EXPECT_EQ(ledger.last_complete_step(), 6);
  EXPECT_FALSE(ledger.finished());
}

TEST(StepLedger, AWorkerThatStartsAgainIsWaitedForAgain) {
  StepLedger ledger(2, kWindow);
  ledger.set_worker_ended(1, true);
  add(ledger, {0}, range(0, 3));
  ledger.settle();
  EXPECT_EQ(ledger.last_complete_step(), 3);
  ledger.set_worker_ended(1, false);
  add(ledger, {0}, range(4, 6));
  add(ledger, {1}, range(2, 4));
  ledger.settle();
  EXPECT_EQ(ledger.last_complete_step(), 4);
}

TEST(StepLedger, TheWindowCountsStepsAlsoWhenFewAreSaved) {
  StepLedger ledger(2, 4);
  add(ledger, {0}, {0, 500, 1000, 1500, 2000});
  ledger.settle();
  EXPECT_EQ(ledger.last_complete_step(), 500);
}

TEST(StepLedger, StepsComeInAnyOrderAndTheLastWordCounts) {
  StepLedger ledger(1, kWindow);
  ledger.add(0, {5, Mode::kTrain, 3});
  ledger.add(0, {2, Mode::kTrain, 2});
  ledger.settle();
  ledger.add(0, {5, Mode::kEval, 0});
  ledger.add(0, {1, Mode::kTrain, 1});
  ledger.settle();
  EXPECT_EQ(ledger.steps(Mode::kGlobal, true), (Steps{1, 2, 5}));
  EXPECT_EQ(ledger.steps(Mode::kTrain, true), (Steps{1, 2}));
  EXPECT_EQ(ledger.global_step(Mode::kEval, 0), 5);
  EXPECT_EQ(ledger.global_step(Mode::kTrain, 3), std::nullopt);
  EXPECT_EQ(ledger.modes(), (std::vector<Mode>{Mode::kTrain, Mode::kEval}));
}

TEST(StepLedger, AModeStepEndedTwiceIsTheLaterOne) {
  StepLedger ledger(1, kWindow);
  ledger.add(0, {3, Mode::kTrain, 0});
  ledger.add(0, {8, Mode::kTrain, 0});
  ledger.settle();
  EXPECT_EQ(ledger.global_step(Mode::kTrain, 0), 8);
  EXPECT_EQ(ledger.steps(Mode::kTrain, false), (Steps{0}));
}

TEST(StepLedger, AWorkerThatTurnsUpLateIsWaitedForFromThenOn) {
  StepLedger ledger(1, kWindow);
  add(ledger, {0}, range(0, 2));
  ledger.settle();
  ledger.set_worker_count(2);
  add(ledger, {0}, range(3, 5));
  add(ledger, {1}, {2, 3});
  ledger.settle();
  expect_steps(ledger, range(0, 5), range(0, 3), 3);
  ledger.set_worker_count(1);  // one that has ended a step is enough again
  ledger.settle();
  EXPECT_EQ(ledger.last_complete_step(), 5);
}

TEST(StepLedger, AsManyAsThereAreHaveToEndAStepWhoeverTheyAre) {
  StepLedger ledger(1, kWindow);
  add(ledger, {0}, range(0, 2));
  add(ledger, {4}, {1, 2, 3});
  ledger.settle();
  expect_steps(ledger, range(0, 3), range(0, 3), 3);
}

TEST(StepLedger, CompleteStepsAfter) {
  const auto ledger = settled(3, false, add_without_b_from_3);
  EXPECT_EQ(ledger.complete_steps_after(-1), range(0, 2));
  EXPECT_EQ(ledger.complete_steps_after(1), (Steps{2}));
  EXPECT_TRUE(ledger.complete_steps_after(2).empty());
}

TEST(StepLedger, StepsOutsideTheRangeAreLeftOut) {
  const auto ledger = settled(1, false, [](auto& l) { add(l, {0}, {-1, 0}); });
  expect_steps(ledger, {0}, {0}, 0);
}

}  // namespace
}  // namespace trainwarden::trial
