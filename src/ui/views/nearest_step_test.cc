#include "ui/views/nearest_step.h"

#include <vector>

#include <gtest/gtest.h>

namespace trainwarden::views {
namespace {

TEST(NearestStep, IsTheStepItselfOrTheOneWithTheLeastDistance) {
  const std::vector<std::int64_t> steps = {10, 20, 100};
  EXPECT_EQ(nearest_step(steps, 20), 20);
  EXPECT_EQ(nearest_step(steps, 0), 10);
  EXPECT_EQ(nearest_step(steps, 14), 10);
  EXPECT_EQ(nearest_step(steps, 15), 10) << "of two the earlier";
  EXPECT_EQ(nearest_step(steps, 16), 20);
  EXPECT_EQ(nearest_step(steps, 1000), 100);
  EXPECT_EQ(nearest_step({}, 1), std::nullopt);
}

}  // namespace
}  // namespace trainwarden::views
