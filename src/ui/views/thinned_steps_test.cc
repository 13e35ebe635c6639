#include "ui/views/thinned_steps.h"

#include <numeric>

#include <gtest/gtest.h>

namespace trainwarden::views {
namespace {

using Steps = std::vector<std::int64_t>;

TEST(ThinnedSteps, KeepTheFirstAndTheLast) {
  Steps steps(1000);
  std::iota(steps.begin(), steps.end(), 0);
  EXPECT_EQ(thinned_steps(steps, 1000), steps);
  EXPECT_EQ(thinned_steps(steps, 10), (Steps{0, 128, 256, 384, 512, 640, 768, 896, 999}));
  EXPECT_TRUE(thinned_steps({}, 10).empty());
}

TEST(ThinnedSteps, StayWhileARunGrows) {
  Steps steps(900);
  std::iota(steps.begin(), steps.end(), 0);
  Steps before = thinned_steps(steps, 10);
  before.pop_back();  // the newest
  steps.push_back(900);
  Steps after = thinned_steps(steps, 10);
  after.pop_back();
  EXPECT_EQ(before, after);
}

}  // namespace
}  // namespace trainwarden::views
