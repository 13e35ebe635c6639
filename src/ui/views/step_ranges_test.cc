#include "ui/views/step_ranges.h"

#include <gtest/gtest.h>

namespace trainwarden::views {
namespace {

using Steps = std::vector<std::int64_t>;
using Ranges = std::vector<StridedSteps>;

TEST(StepRanges, FoldRegularStepsIntoOne) {
  EXPECT_EQ(fold_steps(Steps{}), Ranges{});
  EXPECT_EQ(fold_steps(Steps{7}), (Ranges{{7, 1, 1}}));
  EXPECT_EQ(fold_steps(Steps{0, 10, 20, 30, 35}), (Ranges{{0, 10, 4}, {35, 1, 1}}));
  EXPECT_EQ(fold_steps(Steps{0, 1, 3, 4}), (Ranges{{0, 1, 2}, {3, 1, 2}}));
  Steps many;
  for (std::int64_t i = 0; i < 1'000'000; ++i) many.push_back(5 * i);
  EXPECT_EQ(fold_steps(many), (Ranges{{0, 5, 1'000'000}}));
}

}  // namespace
}  // namespace trainwarden::views
