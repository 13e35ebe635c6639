#include "ui/cli/reports/tensor_reading.h"

#include <gtest/gtest.h>

#include "read/trial/run_testing.h"

namespace trainwarden::cli {
namespace {

// A rule had statistics kept at the steps between, and after.
TEST(TensorReading, TakesTheLastStepWithTheValueAndNamesTheNearestForOthers) {
  TestRun run;
  for (std::int64_t step = 0; step < 25; ++step) {
    run.add({.step = step, .tensors = {step % 10 == 0 ? kept("w", {1, 2}) : reduced("w", {1, 2})}});
  }
  const auto trial = run.open();
  const auto last = read_tensor(*trial, {"w", Mode::kGlobal, std::nullopt, {}});
  ASSERT_TRUE(last.ok()) << last.status().to_string();
  EXPECT_EQ(last->step, 20);
  EXPECT_TRUE(last->value);
  EXPECT_FALSE(last->nearest_whole);
  const auto between = read_tensor(*trial, {"w", Mode::kGlobal, 13, {}});
  ASSERT_TRUE(between.ok()) << between.status().to_string();
  EXPECT_FALSE(between->value);
  EXPECT_TRUE(between->statistics);
  EXPECT_EQ(between->nearest_whole, 10);
}

}  // namespace
}  // namespace trainwarden::cli
