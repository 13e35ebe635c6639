#include "ui/views/capture_bill.h"

#include <gtest/gtest.h>

#include "read/trial/run_testing.h"

namespace trainwarden::views {
namespace {

format::BudgetEvent bill_at(std::int64_t step) {
  format::BudgetEvent event;
  event.global_step = step;
  event.budget = 0.01;
  event.training_ns = 1'000;
  event.capture_ns = 20;
  return event;
}

TEST(CaptureBill, TheNewestOfEachWorkerCounts) {
  TestRun run(2);
  run.add_steps(0, 3, 0);
  run.event(format::encode_budget_event(bill_at(1)), 0);
  run.event(format::encode_budget_event(bill_at(3)), 0);
  run.add_steps(0, 3, 1);
  run.event(format::encode_budget_event(bill_at(2)), 1);
  const auto bills = read_bills(*run.open());
  ASSERT_EQ(bills.size(), 2u);
  EXPECT_EQ(bills[0].newest().global_step, 3);
  EXPECT_DOUBLE_EQ(bills[1].share(), 0.02);
}

TEST(CaptureBill, StepsOfWhichNothingWasKeptAreCountedByIt) {
  TestRun run;
  EXPECT_EQ(last_trained_step(*run.open(), {}), -1);
  run.add_steps(0, 9);
  EXPECT_EQ(last_trained_step(*run.open(), {}), 9);
  run.event(format::encode_budget_event(bill_at(4)));
  EXPECT_EQ(last_trained_step(*run.open(), read_bills(*run.open())), 9) << "a bill of before";
  run.event(format::encode_budget_event(bill_at(1'999)));
  EXPECT_EQ(last_trained_step(*run.open(), read_bills(*run.open())), 1'999);
}

}  // namespace
}  // namespace trainwarden::views
