#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "judge/rules/builtin/rule_testing.h"

namespace trainwarden::rules {
namespace {

using Steps = std::vector<std::int64_t>;

// 2048 normal numbers, another draw at each step; the first is `outlier` when that is not 0.
std::vector<float> activations(std::int64_t step, float outlier = 0) {
  std::mt19937 random(static_cast<unsigned>(step));
  std::normal_distribution<float> normal;
  std::vector<float> values(2048);
  for (float& value : values) value = normal(random);
  if (outlier != 0) values[0] = outlier;
  return values;
}

using Make = TestTensor (*)(std::string, std::vector<float>, std::vector<std::string>);

// 40 steps; outliers at the given ones.
TestRun run_of(Make make, const Steps& outliers, float outlier = 40) {
  TestRun run;
  for (std::int64_t step = 0; step < 40; ++step) {
    const bool out = std::find(outliers.begin(), outliers.end(), step) != outliers.end();
    run.add({.step = step, .tensors = {make("block_output_0", activations(step, out ? outlier : 0), {"outputs"})}});
  }
  return run;
}

TEST(ActivationKurtosis, OutliersThatStayFireInEachForm) {
  for (const Make make : {&kept, &summarised}) {
    const auto verdicts = judge(run_of(make, {25, 26, 27, 28}), "ActivationKurtosis");
    EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{27, 28}));
    EXPECT_EQ(verdicts.at(27).evidence.at(0).tensor, "block_output_0");
    EXPECT_GT(verdicts.at(27).evidence.at(0).value, 100);
    EXPECT_EQ(verdicts.at(27).confidence, 0.7);
    EXPECT_EQ(verdicts.at(19).outcome, Outcome::kInsufficientData);
    EXPECT_EQ(verdicts.at(20).outcome, Outcome::kOk);
  }
}

TEST(ActivationKurtosis, OutliersThatPassDoNot) {
  EXPECT_EQ(steps_with(judge(run_of(&summarised, {25, 26, 28, 29, 31}), "ActivationKurtosis"), Outcome::kFired),
            Steps{});
  const TestRun slight = run_of(&summarised, {25, 26, 27, 28}, 8);  // kurtosis about 5
  EXPECT_EQ(steps_with(judge(slight, "ActivationKurtosis"), Outcome::kFired), Steps{});
  EXPECT_EQ(steps_with(judge(slight, "ActivationKurtosis:min_excess=1,min_ratio=1.3"), Outcome::kFired),
            (Steps{27, 28}));
}

TEST(ActivationKurtosis, WhatWasAlwaysThereIsUsual) {
  Steps all;
  for (std::int64_t step = 0; step < 40; ++step) all.push_back(step);
  EXPECT_EQ(steps_with(judge(run_of(&summarised, all), "ActivationKurtosis"), Outcome::kFired), Steps{});
}

TEST(ActivationKurtosis, WhatCannotBeMeasured) {
  const auto judged = [](TestTensor tensor) {
    TestRun run;
    run.add({.step = 0, .tensors = {std::move(tensor)}});
    return judge(run, "ActivationKurtosis").at(0);
  };
  EXPECT_NE(judged(kept("a", {1, 2}, {"outputs"})).message.find("at least 1024"), std::string::npos);
  EXPECT_NE(judged(reduced("a", activations(0), {"outputs"})).message.find("neither values nor a histogram"),
            std::string::npos);
  std::vector<float> bad = activations(0);
  bad[3] = NAN;
  EXPECT_NE(judged(kept("a", bad, {"outputs"})).message.find("not finite"), std::string::npos);
  EXPECT_EQ(judged(kept("a", std::vector<float>(2000, 1), {"outputs"})).outcome, Outcome::kNotApplicable);
  EXPECT_FALSE(create_rule(*parse_rule_spec("ActivationKurtosis:window=19")).ok());
  EXPECT_FALSE(create_rule(*parse_rule_spec("ActivationKurtosis:collection_names=")).ok());
}

}  // namespace
}  // namespace trainwarden::rules
