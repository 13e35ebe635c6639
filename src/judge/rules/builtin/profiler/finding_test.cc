#include "judge/rules/builtin/profiler/finding.h"

#include <gtest/gtest.h>

namespace trainwarden::rules {
namespace {

TEST(Finding, AmdahlsLaw) {
  EXPECT_DOUBLE_EQ(gain_of_removing(0), 1);
  EXPECT_DOUBLE_EQ(gain_of_removing(0.5), 2);
  EXPECT_DOUBLE_EQ(gain_of_removing(-1), 1);
  EXPECT_NEAR(gain_of_removing(1), 100, 1e-9);
}

TEST(Finding, TheBoundsAreInOrder) {
  const Cost cost = cost_of({0.5, 0.4, 0.6}, {0.8, 0.5, 1});
  EXPECT_DOUBLE_EQ(cost.step_share, 0.5);
  EXPECT_DOUBLE_EQ(cost.gain, 1 / 0.6);
  EXPECT_DOUBLE_EQ(cost.gain_min, 1 / 0.8);
  EXPECT_DOUBLE_EQ(cost.gain_max, 1 / 0.4);
  const Cost turned = cost_of({0.5, 0.9, 0.1});
  EXPECT_DOUBLE_EQ(turned.gain_min, 2);
  EXPECT_DOUBLE_EQ(turned.gain_max, 2);
}

TEST(Finding, TheCostComesFirst) {
  const Verdict verdict = finding("slow", "faster", cost_of({0.5, 0.4, 0.6}), {{"", "", "own", 7, 1, 12}}, 12);
  EXPECT_EQ(verdict.outcome, Outcome::kFired);
  ASSERT_EQ(verdict.evidence.size(), 5u);
  EXPECT_EQ(verdict.evidence[0].quantity, "step_share");
  EXPECT_EQ(verdict.evidence[1].quantity, "gain");
  EXPECT_EQ(verdict.evidence[2].quantity, "gain_min");
  EXPECT_EQ(verdict.evidence[3].quantity, "gain_max");
  EXPECT_EQ(verdict.evidence[4].quantity, "own");
  EXPECT_EQ(verdict.evidence[1].global_step, 12);
  EXPECT_EQ(gain_text(cost_of({0.5, 0.4, 0.6})), "2 times as fast (1.67 to 2.5)");
}

}  // namespace
}  // namespace trainwarden::rules
