#include "ui/views/run_metrics.h"

#include <cmath>

#include <gtest/gtest.h>

#include "read/trial/run_testing.h"

namespace trainwarden::views {
namespace {

TEST(RunMetricsTest, AreTheLastNumbersByModeAndNoneOfTheMachine) {
  TestRun run;
  for (std::int64_t step = 0; step < 4; ++step) {
    const bool eval = step == 3;
    run.add({.step = step,
             .tensors = {scalar("loss", eval ? 8.0F : static_cast<float>(step), {"losses"}),
                         scalar("accuracy", 0.5F, {"scalars"}), scalar("phase/step", 1, {"scalars"}),
                         scalar("trainwarden/step_seconds", 1, {"scalars"}), kept("w", {1, 2}, {"weights"})},
             .mode = eval ? Mode::kEval : Mode::kTrain,
             .mode_step = eval ? 0 : step});
  }
  run.add({.step = 4, .tensors = {scalar("perplexity", NAN, {"scalars"})}, .mode = Mode::kTrain, .mode_step = 3});
  const auto trial = run.open();
  const RunMetrics metrics = read_run_metrics(*trial);
  ASSERT_EQ(metrics.size(), 5U);
  EXPECT_EQ(metrics[0], (std::pair<std::string, double>{"loss (train)", 2.0}));
  EXPECT_EQ(metrics[1], (std::pair<std::string, double>{"loss (eval)", 8.0}));
  EXPECT_EQ(metrics[2].first, "accuracy (train)");
  EXPECT_EQ(metrics[4].first, "perplexity");
  EXPECT_TRUE(std::isnan(metrics[4].second));
}

TEST(RunMetricsTest, AreNotMoreThanATableCanShow) {
  TestRun run;
  TestStep step;
  for (std::size_t i = 0; i < kMostRunMetrics + 5; ++i) {
    step.tensors.push_back(scalar("metric" + std::to_string(i), 1, {"scalars"}));
  }
  run.add(step);
  const auto trial = run.open();
  EXPECT_EQ(read_run_metrics(*trial).size(), kMostRunMetrics);
}

}  // namespace
}  // namespace trainwarden::views
