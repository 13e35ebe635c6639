#include <cmath>

#include <gtest/gtest.h>

#include "judge/rules/builtin/rule_testing.h"

namespace trainwarden::rules {
namespace {

using Steps = std::vector<std::int64_t>;

// A limit of 1; a norm below 0: the step does not clip.
Verdicts judge_norms(const std::vector<float>& norms, std::string_view spec = "ClippingAlways:window=3") {
  TestRun run;
  for (std::size_t step = 0; step < norms.size(); ++step) {
    TestStep one{.step = static_cast<std::int64_t>(step)};
    if (!(norms[step] < 0)) {
      one.tensors = {scalar("trainwarden/clip/norm", norms[step], {"signals"}),
                     scalar("trainwarden/clip/limit", 1, {"signals"})};
    }
    run.add(one);
  }
  return judge(run, spec);
}

TEST(ClippingAlways, EachStepOfTheWindow) {
  const auto verdicts = judge_norms({0.5F, 4, 2, 8, 3, 1, 3});
  ASSERT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{3, 4}));  // a norm at the limit is not clipped
  EXPECT_EQ(verdicts.at(3).evidence.at(0).quantity, "steps_clipped");
  EXPECT_EQ(verdicts.at(3).evidence.at(1).value, 2);
  EXPECT_EQ(steps_with(verdicts, Outcome::kOk), (Steps{0, 1, 2, 5, 6}));
}

TEST(ClippingAlways, StepsThatDoNotClipDoNotCount) {
  const auto verdicts = judge_norms({2, 2, -1, 2});
  EXPECT_EQ(steps_with(verdicts, Outcome::kNotApplicable), (Steps{2}));
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{3}));
}

TEST(ClippingAlways, ANormThatIsNotFiniteEndsTheCount) {
  EXPECT_TRUE(steps_with(judge_norms({2, 2, NAN, 2, 2, INFINITY}), Outcome::kFired).empty());
}

TEST(ClippingAlways, BadParameters) {
  EXPECT_FALSE(create_rule(*parse_rule_spec("ClippingAlways:window=0")).ok());
}

}  // namespace
}  // namespace trainwarden::rules
