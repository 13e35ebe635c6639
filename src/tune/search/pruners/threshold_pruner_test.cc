#include "tune/search/pruners/threshold_pruner.h"

#include <cmath>

#include "tune/search/pruners/curves_testing.h"

namespace trainwarden::tune {
namespace {

PruneAnswer threshold_answer(const std::vector<double>& values, const ThresholdOptions& options) {
  History history = maximized_f1();
  const std::size_t trial = add_running(history, values);
  return make_threshold_pruner(options)->judge(history, trial);
}

TEST(ThresholdPrunerTest, EndsWhatLeavesTheRange) {
  EXPECT_FALSE(threshold_answer({0.5}, {.min = 0.5, .max = 0.9}).prune);
  EXPECT_FALSE(threshold_answer({0.1, 0.9}, {.min = 0.5, .max = 0.9}).prune);
  EXPECT_EQ(threshold_answer({0.9, 0.25}, {.min = 0.5, .max = 0.9}).why, "f1 0.25 at step 2 is below 0.5");
  EXPECT_EQ(threshold_answer({95}, {.min = 0.5, .max = 0.9}).why, "f1 95 at step 1 is above 0.9");
  EXPECT_FALSE(threshold_answer({95}, {.min = 0.5}).prune);
}

TEST(ThresholdPrunerTest, EndsWhatIsNoNumber) {
  EXPECT_EQ(threshold_answer({0.5, NAN}, {.min = 0}).why, "f1 is nan at step 2, which is no number to compare");
  EXPECT_TRUE(threshold_answer({NAN}, {}).prune);
  EXPECT_TRUE(threshold_answer({INFINITY}, {}).prune);
  EXPECT_FALSE(threshold_answer({-INFINITY}, {}).prune);
  EXPECT_TRUE(threshold_answer({-INFINITY}, {.min = 0}).prune);
}

TEST(ThresholdPrunerTest, WarmsUp) {
  EXPECT_FALSE(threshold_answer({NAN}, {.min = 0, .warmup_steps = 2}).prune);
  EXPECT_TRUE(threshold_answer({1, -1}, {.min = 0, .warmup_steps = 2}).prune);
}

}  // namespace
}  // namespace trainwarden::tune
