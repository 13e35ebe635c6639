#include <cmath>

#include <gtest/gtest.h>

#include "judge/rules/builtin/rule_testing.h"

namespace trainwarden::rules {
namespace {

constexpr std::int64_t kRound = 10;  // the first one that is judged

TestRun importances(const std::vector<float>& values, const std::string& kind = "weight", std::int64_t round = kRound) {
  TestRun run;
  TestStep step{.step = round};
  for (std::size_t i = 0; i < values.size(); ++i) {
    step.tensors.push_back(scalar("feature_importance/" + kind + "/f" + std::to_string(i), values[i]));
  }
  run.add(step);
  return run;
}

Verdict verdict(const std::vector<float>& values, std::string_view spec = "FeatureImportanceOverweight") {
  return judge(importances(values), spec).at(kRound);
}

TEST(FeatureImportanceOverweight, ThreeFeaturesCarryTheModel) {
  const Verdict fired = verdict({0.05F, 0.4F, 0.05F, 0.3F, 0.2F});
  ASSERT_EQ(fired.outcome, Outcome::kFired);
  ASSERT_EQ(fired.evidence.size(), 3u);
  EXPECT_EQ(fired.evidence[0].tensor, "feature_importance/weight/f1");
  EXPECT_NEAR(fired.evidence[0].value, 0.4, 1e-6);
  EXPECT_EQ(fired.evidence[2].tensor, "feature_importance/weight/f4");
  EXPECT_EQ(verdict({0.2F, 0.2F, 0.2F, 0.2F, 0.2F}).outcome, Outcome::kOk);
}

TEST(FeatureImportanceOverweight, TheThresholdItselfPasses) {
  EXPECT_EQ(verdict({1, 1, 2, 1}, "FeatureImportanceOverweight:nfeatures=2,threshold=0.6").outcome, Outcome::kOk);
  EXPECT_EQ(verdict({1, 1, 2, 1}, "FeatureImportanceOverweight:nfeatures=2,threshold=0.59").outcome, Outcome::kFired);
}

TEST(FeatureImportanceOverweight, ImportancesNeedNotBePartsOfAWhole) {
  EXPECT_EQ(verdict({100, 100, 100, 1}).outcome, Outcome::kFired);
  EXPECT_EQ(verdict({100, 100, 100, 100}).outcome, Outcome::kOk);
  EXPECT_EQ(verdict({0, 0, 0, 0}).outcome, Outcome::kOk);
}

TEST(FeatureImportanceOverweight, AFewFeaturesCarryAllByNature) {
  EXPECT_EQ(verdict({0.5F, 0.3F, 0.2F}).outcome, Outcome::kNotApplicable);
  EXPECT_EQ(verdict({0.5F, 0.3F, 0.2F, NAN}).outcome, Outcome::kNotApplicable);
  EXPECT_EQ(verdict({}).outcome, Outcome::kNotApplicable);
}

TEST(FeatureImportanceOverweight, FewTreesRestOnFewFeaturesByNature) {
  const std::vector<float> overweight = {0.5F, 0.3F, 0.2F, 0};
  const Verdict first = judge(importances(overweight, "weight", 9), "FeatureImportanceOverweight").at(9);
  EXPECT_EQ(first.outcome, Outcome::kInsufficientData);
  EXPECT_EQ(first.message, "a model of no more than 10 rounds may rest on few features by nature");
  EXPECT_EQ(judge(importances(overweight, "weight"), "FeatureImportanceOverweight").at(kRound).outcome,
            Outcome::kFired);
  const char* at_once = "FeatureImportanceOverweight:first_rounds=0";
  EXPECT_EQ(judge(importances(overweight, "weight", 0), at_once).at(0).outcome, Outcome::kFired);
}

TEST(FeatureImportanceOverweight, AnotherKindOfImportance) {
  const TestRun run = importances({9, 9, 9, 1}, "gain");
  EXPECT_EQ(judge(run, "FeatureImportanceOverweight").at(kRound).outcome, Outcome::kNotApplicable);
  EXPECT_EQ(judge(run, "FeatureImportanceOverweight:tensor_regex=.*feature_importance/gain").at(kRound).outcome,
            Outcome::kFired);
}

}  // namespace
}  // namespace trainwarden::rules
