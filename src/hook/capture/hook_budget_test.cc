// A hook under a budget, on a clock of its own: what it leaves out, what it never leaves out, and the bill.
#include <algorithm>
#include <utility>

#include <gtest/gtest.h>

#include "core/base/clock.h"
#include "data/format/capture_events.h"
#include "hook/capture/capture_testing.h"
#include "hook/capture/idle_steps.h"
#include "hook/capture/open_hook.h"
#include "store/storage/memory_storage.h"

namespace trainwarden::capture {
namespace {

using std::chrono::milliseconds;

class HookBudget : public testing::Test {
 protected:
  void open(HookOptions options) {
    auto hook = HookOpener::open(std::move(options), borrowed(*storage_), clock_);
    ASSERT_TRUE(hook.ok()) << hook.status().to_string();
    hook_ = *std::move(hook);
    weight_ = hook_->declare("conv.weight");
  }

  // Steps of 1.5 s; what a wanted weight costs is what an adapter says.
  void train(int steps, milliseconds cost) {
    const std::vector<float> values = {1, 2, 3};
    for (int i = 0; i < steps; ++i) {
      clock_.advance_ns(1'500'000'000);
      if (hook_->wants(weight_)) {
        clock_.advance_ns(std::chrono::nanoseconds(cost).count());
        hook_->add_cost(cost);
      }
      hook_->save_tensor(weight_, view_of(values));
      hook_->save_tensor("loss_output_0", view_of({0.5f}));
      hook_->save_scalar("accuracy", 0.5);
      hook_->end_step();
    }
    ASSERT_TRUE(hook_->flush().ok());
  }

  static HookOptions statistics_of_weights() {
    HookOptions options;
    options.include_collections = {"weights"};
    options.keep = KeepForm{.values = false, .statistics = true, .hash = true};
    options.save = SavePolicy::every(1);
    options.budget = 0.01;
    options.staging_bytes = std::size_t{1} << 20;
    options.when_full = WhenFull::kBlock;
    return options;
  }

  const std::unique_ptr<storage::MemoryStorage> storage_ = storage::create_memory_storage();
  FakeClock clock_;
  std::unique_ptr<Hook> hook_;
  TensorId weight_;
};

// Steps of 10 ms for 60 s. Keeping the first costs what the budget allows in all that time.
class HookPulse : public HookBudget {
 protected:
  static constexpr std::int64_t kSteps = 6000;

  // The longest time between two steps whose losses were kept, in steps.
  std::int64_t longest_gap(bool saves_step_times, int cost_ms = 1) {
    HookOptions options = statistics_of_weights();
    options.include_collections = {"signals"};
    open(options);
    hook_->set_mode(Mode::kTrain);
    std::int64_t longest = 0, last = 0;
    for (std::int64_t step = 0; step < kSteps; ++step) {
      clock_.advance_ns(10 * kMillisecond);
      if (hook_->wants("loss_output_0")) {
        hook_->add_cost(milliseconds(step == 0 ? 600 : cost_ms));
        hook_->save_tensor("loss_output_0", view_of({0.5f}));
        if (saves_step_times) hook_->save_step_times();
        longest = std::max(longest, step - std::exchange(last, step));
      }
      if (!end_idle_step(*hook_)) hook_->end_step();
    }
    return std::max(longest, kSteps - last);
  }
};

TEST_F(HookPulse, WithoutStepTimesLossesThatAreAsDearAsAStepAreRare) {
  EXPECT_GT(longest_gap(false, 10), 300);
}

TEST_F(HookPulse, OneDearStepDoesNotTakeTheLossesOfTheOthersAway) {
  EXPECT_LE(longest_gap(false), 64) << "10 % each time, of half of 0.5 %";
}

TEST_F(HookPulse, WithStepTimesLossesComeOnceASecond) {
  EXPECT_LE(longest_gap(true), 165) << "at multiples of a power of two";
}

TEST_F(HookPulse, StepTimesAreKnownOfAllSteps) {
  longest_gap(true);
  ASSERT_TRUE(hook_->close().ok());
  std::int64_t next = 1;  // of the first it is not known when it began
  for (const ReadStep& step : read_run(*storage_).steps) {
    const auto times = step.values.find("trainwarden/step_times");
    if (times == step.values.end()) continue;
    const auto seconds = floats_of(times->second);
    EXPECT_EQ(step.entry.mode_step - static_cast<std::int64_t>(seconds.size()), next);
    next = step.entry.mode_step;
  }
  EXPECT_GT(next, kSteps - 165);
}

TEST_F(HookBudget, StretchesIntervalsAndTakesNoLossesThatCostNothingAndNoScalarsAndListedSteps) {
  HookOptions options = statistics_of_weights();
  for (auto& schedule : options.save.by_mode) schedule->save_steps = {7, 45};
  open(options);
  train(129, milliseconds(300));

  const ReadRun run = read_run(*storage_);
  std::vector<std::int64_t> weights;
  ASSERT_EQ(run.steps.size(), 129u);
  for (const ReadStep& step : run.steps) {
    EXPECT_EQ(step.values.count("loss_output_0"), 1u) << step.entry.global_step;
    EXPECT_EQ(step.scalars.count("accuracy"), 1u) << step.entry.global_step;
    if (step.statistics.contains("conv.weight")) weights.push_back(step.entry.global_step);
  }
  EXPECT_EQ(weights, (std::vector<std::int64_t>{0, 4, 7, 45, 128}));
  EXPECT_TRUE(run.steps[45].statistics.at("conv.weight").statistics.has_hash) << "a listed step is kept as asked for";
  EXPECT_FALSE(run.steps[128].statistics.at("conv.weight").statistics.has_hash);
}

TEST_F(HookBudget, TellsTheRunOfEachChangeAndOfTheBillAtItsEnd) {
  open(statistics_of_weights());
  train(3, milliseconds(300));
  const ReadRun so_far = read_run(*storage_);
  ASSERT_FALSE(so_far.events.empty());
  const auto change = format::decode_budget_event(so_far.events[0]);
  ASSERT_TRUE(change.ok() && change->has_value());
  EXPECT_EQ((*change)->global_step, 0);
  EXPECT_EQ((*change)->mode, Mode::kGlobal);
  EXPECT_EQ((*change)->interval_factor, 4);
  EXPECT_EQ((*change)->dropped, std::vector<std::string>{"hash"});
  EXPECT_EQ((*change)->budget, 0.01);
  EXPECT_EQ((*change)->capture_ns, 300'000'000);

  train(1000, milliseconds(300));
  ASSERT_TRUE(hook_->close().ok());
  const ReadRun run = read_run(*storage_);
  const auto bill = format::decode_budget_event(run.events[run.events.size() - 2]);
  ASSERT_TRUE(bill.ok() && bill->has_value());
  EXPECT_EQ((*bill)->global_step, 1002);
  EXPECT_LT(static_cast<double>((*bill)->capture_ns), 0.006 * static_cast<double>((*bill)->training_ns))
      << "part of the budget is for what nobody can measure";
}

TEST_F(HookBudget, TheReportHasTheBill) {
  open(statistics_of_weights());
  train(100, milliseconds(300));
  const CaptureBill bill = hook_->report().bill;
  EXPECT_EQ(bill.budget, 0.01);
  EXPECT_GT(bill.interval_factor, 1);
  EXPECT_EQ(bill.dropped, std::vector<std::string>{"hash"});
  EXPECT_EQ(bill.training_ns, std::int64_t{150'000'000'000} + bill.capture_ns);
  EXPECT_NEAR(bill.share(), 0.005, 0.004);
}

TEST_F(HookBudget, TheFirstTenthOfASecondOfCaptureLeavesOutNothing) {
  open(statistics_of_weights());
  train(4, milliseconds(24));
  EXPECT_EQ(hook_->report().statistics, 4u);
  EXPECT_EQ(hook_->report().bill.interval_factor, 1);
  train(2, milliseconds(24));
  EXPECT_GT(hook_->report().bill.interval_factor, 1);
}

TEST_F(HookBudget, WithoutABudgetTheBillIsKeptAndNothingIsLeftOut) {
  HookOptions options = statistics_of_weights();
  options.budget = 0;
  open(options);
  train(10, milliseconds(1500));
  const CaptureBill bill = hook_->report().bill;
  EXPECT_EQ(bill.interval_factor, 1);
  EXPECT_DOUBLE_EQ(bill.share(), 0.5);
  EXPECT_EQ(hook_->report().statistics, 10u);
}

// Losses that cost much are sampled; a step that is kept for something else has its losses.
TEST_F(HookBudget, SamplesLossesThatItCannotAfford) {
  open(statistics_of_weights());
  for (int i = 0; i < 400; ++i) {
    clock_.advance_ns(1'500'000'000);
    if (hook_->wants_collection("losses")) hook_->add_cost(milliseconds(50));
    if (hook_->wants(weight_)) hook_->add_cost(milliseconds(60));
    hook_->save_tensor(weight_, view_of({1}));
    hook_->save_tensor("loss_output_0", view_of({0.5f}));
    hook_->end_step();
  }
  EXPECT_LT(hook_->report().bill.share(), 0.008);
  ASSERT_TRUE(hook_->close().ok());
  const ReadRun run = read_run(*storage_);
  const auto bill = format::decode_budget_event(run.events[run.events.size() - 2]);
  ASSERT_TRUE(bill.ok() && bill->has_value());
  EXPECT_EQ((*bill)->losses_factor, 16) << "3.3 % each time, of half of 0.6 %";
  std::size_t losses = 0;
  for (const ReadStep& step : run.steps) {
    losses += step.values.count("loss_output_0");
    EXPECT_TRUE(step.values.contains("loss_output_0") || !step.statistics.contains("conv.weight"));
  }
  EXPECT_GT(losses, 25u);
  EXPECT_LT(losses, 35u);
}

// An adapter passes steps of which nothing is wanted; whatever it does not ask for, none is missed and none is counted
// twice.
TEST_F(HookBudget, IdleStepsAreCountedAndTheWantedOnesKept) {
  HookOptions options = statistics_of_weights();
  options.budget = 0;
  options.save = SavePolicy::every(10);
  open(options);
  int passed = 0;
  for (int step = 0; step < 95; ++step) {
    ASSERT_EQ(hook_->global_step(), step);
    clock_.advance_ns(1'000'000);
    hook_->save_tensor(weight_, view_of({1}));
    if (end_idle_step(*hook_)) {
      ++passed;
    } else {
      hook_->end_step();
    }
  }
  EXPECT_EQ(passed, 95 - 2 * 10 + 1) << "all but the wanted ones and those before them";
  EXPECT_EQ(hook_->report().steps, 95);
  EXPECT_EQ(hook_->report().bill.training_ns, 91'000'000) << "as of the last step that was no mere counting";
  hook_->set_mode(Mode::kEval);
  EXPECT_EQ(hook_->report().bill.training_ns, 95'000'000);
  ASSERT_TRUE(hook_->close().ok());
  std::vector<std::int64_t> kept;
  for (const ReadStep& step : read_run(*storage_).steps) kept.push_back(step.entry.global_step);
  EXPECT_EQ(kept, (std::vector<std::int64_t>{0, 10, 20, 30, 40, 50, 60, 70, 80, 90}));
}

TEST_F(HookBudget, AScalarMakesAStepOneToBeWritten) {
  HookOptions options = statistics_of_weights();
  options.save = SavePolicy::every(10);
  open(options);
  hook_->end_step();
  EXPECT_TRUE(end_idle_step(*hook_));
  hook_->save_scalar("accuracy", 0.5);
  EXPECT_FALSE(end_idle_step(*hook_));
  EXPECT_EQ(hook_->end_step().global_step, 2);
}

TEST_F(HookBudget, SaysWhenATensorIsNextWanted) {
  open(statistics_of_weights());
  EXPECT_EQ(hook_->next_wanted_step(weight_), 0);
  train(1, milliseconds(300));
  EXPECT_EQ(hook_->next_wanted_step(weight_), 4);
  EXPECT_EQ(hook_->next_wanted_step(hook_->declare("loss_output_0")), 1);
  EXPECT_EQ(hook_->next_wanted_step(hook_->declare("nobody wants me")), std::nullopt);
  EXPECT_EQ(hook_->next_wanted_step(TensorId()), std::nullopt);
}

TEST_F(HookBudget, ABudgetIsAShare) {
  HookOptions options = statistics_of_weights();
  options.budget = 5;
  const auto hook = HookOpener::open(options, borrowed(*storage_), clock_);
  EXPECT_EQ(hook.status().code(), Code::kInvalidArgument);
  EXPECT_NE(hook.status().message().find("0.01 for 1 %"), std::string::npos) << hook.status().message();
}

}  // namespace
}  // namespace trainwarden::capture
