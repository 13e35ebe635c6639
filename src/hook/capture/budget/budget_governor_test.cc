// A training in a model: what a step takes, what its capture costs, and what the governor makes of it.
#include "hook/capture/budget/budget_governor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace trainwarden::capture {
namespace {

constexpr double kMs = 1e6;

struct Training {
  explicit Training(double budget) : governor(budget) {}

  BudgetGovernor governor;
  std::int64_t save_interval = 1;
  FormBits forms = kStatisticsBit;
  double train_ms = 100;
  double idle_ms = 0;  // what every step costs
  // What capture costs at a step that captures in these forms.
  std::function<double(std::int64_t step, FormBits form)> cost_ms;

  std::int64_t step = 0;
  double wall_ms = 0;
  double spent_ms = 0;
  int captures = 0;
  std::map<std::int64_t, Restraint> changes;  // by the step after which they came

  void run(std::int64_t steps) {
    for (const std::int64_t end = step + steps; step < end; ++step) one_step();
  }
  double share() const { return spent_ms / wall_ms; }
  std::int64_t factor() const { return governor.restraint().interval_factor; }

 private:
  void one_step() {
    const Restraint& restraint = governor.restraint();
    const bool wanted = step % (save_interval * restraint.interval_factor) == 0;
    const double cost = idle_ms + (wanted ? cost_ms(step, restraint.apply(forms)) : 0);
    captures += wanted ? 1 : 0;
    wall_ms += train_ms + cost;
    spent_ms += cost;
    const StepDemand demand{.wanted = wanted, .listed = false, .save_interval = save_interval, .forms = forms};
    const auto ns = [](double ms) { return static_cast<std::int64_t>(ms * kMs); };
    if (governor.end_step({ns(train_ms + cost), ns(cost), demand})) changes[step] = governor.restraint();
  }
};

auto always(double ms) {
  return [ms](std::int64_t, FormBits) { return ms; };
}

TEST(BudgetGovernor, LeavesACheapCaptureAlone) {
  Training training(0.01);
  training.cost_ms = always(0.7);
  training.run(10'000);
  EXPECT_TRUE(training.changes.empty());
  EXPECT_EQ(training.captures, 10'000);
}

TEST(BudgetGovernor, LeavesEverythingAloneWithoutABudget) {
  Training training(0);
  training.cost_ms = always(100);
  training.run(1000);
  EXPECT_TRUE(training.changes.empty());
}

// An interval that already spreads the cost is not touched, not even while the first capture is being paid off.
TEST(BudgetGovernor, KnowsThatAnIntervalSpreadsTheCost) {
  Training training(0.01);
  training.save_interval = 500;
  training.cost_ms = always(300);
  training.run(10'000);
  EXPECT_TRUE(training.changes.empty());
}

TEST(BudgetGovernor, ConvergesWithTheSecondCaptureAndKeepsUnderTheBudget) {
  Training training(0.01);
  training.cost_ms = always(20);
  training.run(1);
  EXPECT_EQ(training.factor(), 2) << "the first says little";
  training.run(2);
  EXPECT_EQ(training.captures, 2);
  EXPECT_GE(training.factor(), 32) << "20 % every 32nd step is 0.6 %";
  training.run(100);
  EXPECT_EQ(training.factor(), 32);
  training.run(10'000);
  EXPECT_LT(training.share(), 0.01);
  EXPECT_GT(training.share(), 0.005) << "and no more is left out than must be";
  EXPECT_LT(training.changes.size(), 4u) << "it does not swing";
}

TEST(BudgetGovernor, AFirstStepThatWarmsThingsUpDoesNotThrowItOff) {
  Training training(0.01);
  training.cost_ms = [](std::int64_t step, FormBits) { return step == 0 ? 400.0 : 20.0; };
  training.run(1000);
  EXPECT_EQ(training.factor(), 32);
  EXPECT_EQ(training.changes.begin()->second.interval_factor, 64) << "it is not repeated soon";
  training.run(30'000);
  EXPECT_LT(training.share(), 0.01);
  EXPECT_LT(training.changes.size(), 4u);
}

// Steps of a millisecond, and a first capture that takes fifteen.
TEST(BudgetGovernor, ShortStepsDoNotPayForTheFirstCaptureForEver) {
  Training training(0.01);
  training.train_ms = 1;
  training.idle_ms = 0.005;
  training.cost_ms = [](std::int64_t step, FormBits) { return step == 0 ? 15.0 : 0.02; };
  training.run(1000);
  EXPECT_EQ(training.factor(), 8);
  training.run(10'000);
  EXPECT_LT(training.share(), 0.0125);
}

// The hook is opened, then data are loaded for ten seconds, then steps take 100 ms.
TEST(BudgetGovernor, DoesNotTakeTheTimeBeforeTrainingForTheTimeOfAStep) {
  Training training(0.01);
  training.cost_ms = always(20);
  training.train_ms = 10'000;
  training.run(1);
  training.train_ms = 100;
  training.run(200);
  EXPECT_EQ(training.factor(), 32);
  EXPECT_LT(training.captures, 8);
}

TEST(BudgetGovernor, AMonsterIsNotRepeatedBeforeItIsPaidFor) {
  Training training(0.01);
  training.cost_ms = [](std::int64_t step, FormBits) { return step == 640 ? 2000.0 : 20.0; };
  training.run(641);
  EXPECT_EQ(training.factor(), 2048);
  training.run(2048);
  EXPECT_EQ(training.factor(), 32) << "but neither is it remembered for ever";
  EXPECT_LT(training.share(), 0.02);
  training.run(10'000);
  EXPECT_LT(training.share(), 0.01);
}

TEST(BudgetGovernor, DoesNotSwingWithTheNoise) {
  Training training(0.01);
  training.cost_ms = [](std::int64_t step, FormBits) { return 20 + 9 * std::sin(static_cast<double>(step)); };
  training.run(100'000);
  EXPECT_LT(training.changes.size(), 4u);
  EXPECT_LT(training.share(), 0.01);
}

// Gradients at every step and weights at every 100th: together too much.
TEST(BudgetGovernor, SettlesWhenSomeStepsAreDearerThanOthers) {
  Training training(0.01);
  training.cost_ms = [&](std::int64_t step, FormBits) {
    return 0.8 + (step % (100 * training.factor()) == 0 ? 60.0 : 0.0);
  };
  training.run(50'000);
  EXPECT_LT(training.share(), 0.01);
  EXPECT_LT(training.changes.size(), 8u);
  EXPECT_LE(training.factor(), 4);
}

TEST(BudgetGovernor, DropsHistogramsAndHashesFirst) {
  Training training(0.01);
  training.forms = kStatisticsBit | kHistogramBit | kHashBit;
  training.cost_ms = [](std::int64_t, FormBits form) { return (form & kHistogramBit) != 0 ? 3.0 : 0.6; };
  training.run(100);
  EXPECT_EQ(training.governor.restraint(), (Restraint{.interval_factor = 1, .dropped = kHistogramBit | kHashBit}));
  training.run(1000);
  EXPECT_LT(training.share(), 0.01);
  EXPECT_EQ(training.governor.restraint().dropped_names(), (std::vector<std::string>{"histogram", "hash"}));
}

TEST(BudgetGovernor, TakesValuesLast) {
  Training training(0.01);
  training.forms = kValuesBit;
  training.cost_ms = [](std::int64_t, FormBits form) { return (form & kValuesBit) != 0 ? 5000.0 : 20.0; };
  training.run(512);
  EXPECT_EQ(training.captures, 1) << "a monster is not repeated soon, be it the first";
  training.run(1);
  EXPECT_EQ(training.governor.restraint().dropped, kValuesBit) << "even 1024 times as long is not enough";
  EXPECT_EQ(training.governor.restraint().apply(kValuesBit), kStatisticsBit);
  training.run(200'000);
  EXPECT_LT(training.share(), 0.01);
}

TEST(BudgetGovernor, EasesBackWhenThereIsRoom) {
  Training training(0.01);
  double cost = 20;
  training.cost_ms = [&](std::int64_t, FormBits) { return cost; };
  training.run(1000);
  EXPECT_EQ(training.factor(), 32);
  cost = 0.1;
  training.run(1000);
  EXPECT_EQ(training.factor(), 1);
  training.train_ms = 5;
  training.run(200);
  EXPECT_EQ(training.factor(), 2) << "the steps have become shorter";
}

// What cannot be left out takes the whole budget: the rest goes on, at a tenth of it.
TEST(BudgetGovernor, GoesOnWhenTheBudgetIsSpentElsewhere) {
  Training training(0.01);
  training.idle_ms = 3;
  training.cost_ms = always(20);
  training.run(20'000);
  EXPECT_GT(training.captures, 20);
  EXPECT_LT(training.share(), 0.0325);
}

TEST(BudgetGovernor, StartsAnewWhenSomethingElseIsCaptured) {
  Training training(0.01);
  training.cost_ms = always(20);
  training.run(5000);
  EXPECT_EQ(training.factor(), 32);
  training.governor.start_anew(0.05);
  EXPECT_EQ(training.factor(), 1);
  training.run(1);
  training.run(2000);
  EXPECT_EQ(training.factor(), 4);
}

// Steps of 100 ms, each with what follows from keeping it; `costs` are in ms.
struct Costs {
  double losses = 0, weights = 0, box = 0, beside = 0;
  double standing = 0;  // beside each step, kept or not
  double signals = 0;
  double weights_beside = 0;
  std::function<double(std::int64_t step)> interruption = [](std::int64_t) { return 0.0; };  // of what is kept
  std::int64_t recorded_steps = 0;  // of the first ones the operators are recorded, which costs 20 ms a step
};
struct Kept {
  double share = 0;
  int losses = 0, weights = 0, boxed = 0, signals = 0;
  Restraint restraint;
};
Kept train_with(const Costs& costs, std::int64_t steps) {
  BudgetGovernor governor(0.01);
  Kept kept;
  double wall_ms = 0;
  double spent_ms = 0;
  const auto ns = [](double ms) { return static_cast<std::int64_t>(ms * kMs); };
  for (std::int64_t step = 0; step < steps; ++step) {
    const Restraint restraint = governor.restraint();
    StepDemand demand{.save_interval = 1, .forms = costs.weights > 0 ? kStatisticsBit : FormBits{0}};
    demand.wanted = costs.weights > 0 && step % restraint.interval_factor == 0;
    demand.boxed = costs.box > 0 && step % restraint.box_factor == 0;
    demand.losses = step % restraint.losses_factor == 0 || demand.wanted;
    demand.signals = costs.signals > 0 && (step % restraint.signals_factor == 0 || demand.wanted);
    const double kept_cost = (demand.losses ? costs.losses : 0) + (demand.signals ? costs.signals : 0) +
                             (demand.wanted ? costs.weights : 0) + (demand.boxed ? costs.box : 0);
    const double recorded = step < costs.recorded_steps ? 20 : 0;
    const double cost = recorded + kept_cost + (kept_cost > 0 ? costs.interruption(step) : 0);
    const double beside =
        (demand.losses || demand.boxed ? costs.beside : 0) + (demand.wanted ? costs.weights_beside : 0);
    wall_ms += 100 + cost;
    spent_ms += cost + beside + costs.standing;
    kept.losses += demand.losses;
    kept.weights += demand.wanted;
    kept.boxed += demand.boxed;
    kept.signals += demand.signals;
    governor.end_step({.wall_ns = ns(100 + cost),
                       .capture_ns = ns(cost),
                       .demand = demand,
                       .beside_ns = ns(beside + costs.standing),
                       .standing = costs.standing / 100});
  }
  kept.share = spent_ms / wall_ms;
  kept.restraint = governor.restraint();
  return kept;
}

TEST(BudgetGovernor, LossesAloneMayTakeTheWholeBudget) {
  const Kept cheap = train_with({.losses = 0.9}, 2000);
  EXPECT_EQ(cheap.losses, 2000);
  const Kept dear = train_with({.losses = 5}, 20'000);
  EXPECT_EQ(dear.restraint.losses_factor, 8);
  EXPECT_LT(dear.share, 0.01);
}

TEST(BudgetGovernor, LossesAndTheBlackBoxLeaveSomethingForTheRest) {
  const Kept kept = train_with({.losses = 2, .weights = 10, .box = 10}, 20'000);
  EXPECT_LT(kept.share, 0.0105);
  EXPECT_GT(kept.share, 0.005);
  EXPECT_GT(kept.losses, 2000);
  EXPECT_GT(kept.weights, 150);
  EXPECT_GT(kept.boxed, 300);
}

TEST(BudgetGovernor, WhatIsSpentBesideCountsForWhatItFollowsFrom) {
  const Kept kept = train_with({.losses = 0.1, .weights = 0.5, .beside = 4}, 20'000);
  EXPECT_LT(kept.share, 0.0105);
  EXPECT_GT(kept.weights, 300);
}

TEST(BudgetGovernor, WhatRecordedStepsCostIsNotTakenForWhatEveryStepCosts) {
  const Kept kept = train_with({.losses = 2, .weights = 30, .recorded_steps = 15}, 40'000);
  EXPECT_LT(kept.share, 0.0105);
  EXPECT_GT(kept.losses, 5000);
}

// A call of 0.05 ms that the machine interrupts is seen to take 80 ms; the statistics of all weights are written
// beside.
TEST(BudgetGovernor, LossesAreKeptAtEveryStepOnAMachineThatIsBusy) {
  for (const std::int64_t often : {3, 5, 50}) {
    const auto interruption = [&](std::int64_t step) { return step % often == 1 ? 80.0 : 0.0; };
    const Kept kept = train_with(
        {.losses = 0.05, .weights = 20, .beside = 0.05, .weights_beside = 60, .interruption = interruption}, 5000);
    EXPECT_EQ(kept.restraint.losses_factor, 1);
    EXPECT_GT(kept.losses, 4900) << "of 5000, one interrupted of " << often;
    EXPECT_GT(kept.restraint.interval_factor, 32);
  }
}

// Signals cost what an adapter does for them, a loss is a number.
TEST(BudgetGovernor, SignalsThatAreDearTakeNoLossesAway) {
  const Kept kept = train_with({.losses = 0.1, .weights = 20, .signals = 5}, 20'000);
  EXPECT_EQ(kept.restraint.losses_factor, 1);
  EXPECT_GT(kept.losses, 19'900);
  EXPECT_GT(kept.restraint.signals_factor, 8);
  EXPECT_GT(kept.signals, 500);
  EXPECT_GT(kept.weights, 150);
  EXPECT_LT(kept.share, 0.0105);
}

TEST(BudgetGovernor, LossesThatTakeTheBudgetAloneAreSampled) {
  const Kept cheap = train_with({.losses = 0.7, .weights = 20, .signals = 1}, 20'000);
  EXPECT_EQ(cheap.restraint.losses_factor, 1);
  EXPECT_LT(cheap.share, 0.0115) << "the least that the others are left comes on top";
  const Kept dear = train_with({.losses = 1.5, .weights = 20, .signals = 1}, 20'000);
  EXPECT_EQ(dear.restraint.losses_factor, 4);
  EXPECT_LT(dear.share, 0.0105);
}

// Steps of a millisecond whose losses cost as much beside the training as the promise is worth.
TEST(BudgetGovernor, ShortStepsKeepThePromiseBeforeTheLosses) {
  const Kept kept = train_with({.losses = 0.5, .weights = 30, .beside = 2}, 20'000);
  EXPECT_GE(kept.restraint.losses_factor, 4);
  EXPECT_LT(kept.share, 0.0105);
}

// It does not come with what is kept: to keep less would save nothing of it.
TEST(BudgetGovernor, WhatIsSpentBesideWhateverIsKeptIsTakenFromTheBudgetFirst) {
  const Kept kept = train_with({.losses = 0.1, .weights = 0.5, .beside = 1, .standing = 0.6}, 20'000);
  EXPECT_LT(kept.share, 0.0105);
  EXPECT_GT(kept.share, 0.007);
  EXPECT_LE(kept.restraint.losses_factor, 8);
  EXPECT_LE(kept.restraint.interval_factor, 32) << "of which losses come first";
}

// A thousand idle steps that are counted at once are what they are one by one.
TEST(BudgetGovernor, IdleStepsMayComeInOne) {
  BudgetGovernor governor(0.01);
  StepDemand wanted{.wanted = true, .forms = kStatisticsBit};
  const auto ms = [](double value) { return static_cast<std::int64_t>(value * kMs); };
  for (int i = 0; i < 50; ++i) {
    const auto idle = governor.restraint().interval_factor - 1;
    if (idle > 0)
      governor.end_step({.wall_ns = ms(100) * idle,
                         .capture_ns = ms(0.1) * idle,
                         .demand = {.forms = kStatisticsBit},
                         .count = idle});
    governor.end_step({.wall_ns = ms(120), .capture_ns = ms(20.1), .demand = wanted});
  }
  EXPECT_EQ(governor.restraint().interval_factor, 32) << "20 ms of the 0.9 that a step of 100 ms leaves";
}

TEST(BudgetGovernor, WhatIsFreeIsLearnedFromAndNotPaidFor) {
  BudgetGovernor governor(0.01);
  const StepDemand demand{.wanted = true, .forms = kStatisticsBit};
  const auto ms = [](double value) { return static_cast<std::int64_t>(value * kMs); };
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(governor.end_step({.wall_ns = ms(120), .capture_ns = ms(20), .demand = demand, .free = true}));
  }
  EXPECT_EQ(governor.restraint(), Restraint());
  EXPECT_TRUE(governor.end_step({.wall_ns = ms(120), .capture_ns = ms(20), .demand = demand}));
  EXPECT_EQ(governor.restraint().interval_factor, 32) << "known by now";
}

}  // namespace
}  // namespace trainwarden::capture
