#include "tune/trial_runs/run_series.h"

#include <gtest/gtest.h>

#include "read/trial/run_testing.h"

namespace trainwarden::tune {
namespace {

TEST(RunSeriesTest, ReadsScalarsByStep) {
  TestRun run;
  for (int step = 0; step < 5; ++step) {
    run.add({.step = step, .tensors = {scalar("f1", 0.5f * static_cast<float>(step))}});
  }
  const auto trial = run.open();
  const auto series = series_of_run(*trial, "f1");
  ASSERT_EQ(series.size(), 5u);
  EXPECT_EQ(series[4].step, 4);
  EXPECT_EQ(series[4].value, 2.0);
  EXPECT_TRUE(series_of_run(*trial, "loss").empty());
  EXPECT_EQ(metric_names_of_run(*trial, 10), std::vector<std::string>{"f1"});
}

}  // namespace
}  // namespace trainwarden::tune
