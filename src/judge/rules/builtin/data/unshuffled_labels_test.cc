#include <functional>
#include <random>

#include <gtest/gtest.h>

#include "judge/rules/builtin/rule_testing.h"

namespace trainwarden::rules {
namespace {

using Steps = std::vector<std::int64_t>;
using LabelsAt = std::function<std::vector<std::int64_t>(std::int64_t step)>;

const std::vector<std::string> kLabels = {"labels"};

std::vector<std::int64_t> sorted(std::int64_t step) {
  return std::vector<std::int64_t>(8, step / 20);
}
std::vector<std::int64_t> shuffled(std::int64_t step) {
  std::mt19937 random(static_cast<unsigned>(step));
  std::vector<std::int64_t> labels;
  for (int i = 0; i < 8; ++i) labels.push_back(static_cast<std::int64_t>(random() % 4));
  return labels;
}

TestRun training(const LabelsAt& labels_at, Mode mode = Mode::kTrain, const std::vector<TestTensor>& more = {}) {
  TestRun run;
  for (std::int64_t step = 0; step < 80; ++step) {
    TestStep saved{
        .step = step, .tensors = {kept_integers("CrossEntropyLoss_input_1", labels_at(step), kLabels)}, .mode = mode};
    saved.tensors.insert(saved.tensors.end(), more.begin(), more.end());
    run.add(saved);
  }
  return run;
}

TEST(UnshuffledLabels, SortedLabels) {
  const auto verdicts = judge(training(sorted), "UnshuffledLabels");
  const Steps steps = steps_with(verdicts, Outcome::kFired);
  ASSERT_FALSE(steps.empty());
  EXPECT_GT(steps.front(), 20);  // where the second class begins
  EXPECT_LT(steps.front(), 45);
  const Verdict& verdict = verdicts.at(steps.front());
  EXPECT_EQ(verdict.evidence.at(0).tensor, "CrossEntropyLoss_input_1");
  EXPECT_EQ(verdict.evidence.at(0).quantity, "alike_across_batches");
  EXPECT_GT(verdict.evidence.at(0).value, verdict.evidence.at(0).threshold);
}

TEST(UnshuffledLabels, ShuffledLabels) {
  const auto verdicts = judge(training(shuffled), "UnshuffledLabels");
  EXPECT_EQ(steps_with(verdicts, Outcome::kOk).size(), 61u);
  EXPECT_EQ(steps_with(verdicts, Outcome::kInsufficientData).size(), 19u);
}

TEST(UnshuffledLabels, EvaluationMayBeSorted) {
  EXPECT_EQ(steps_with(judge(training(sorted, Mode::kEval), "UnshuffledLabels"), Outcome::kNotApplicable).size(), 80u);
  EXPECT_FALSE(steps_with(judge(training(sorted, Mode::kGlobal), "UnshuffledLabels"), Outcome::kFired).empty());
}

TEST(UnshuffledLabels, LabelsOfTokensAreNotJudged) {
  const TestTensor input = shaped(reduced("Net_input_0", {0, 1, 2, 3, 4, 5, 6, 7}, {"batch_inputs"}), {2, 4});
  EXPECT_EQ(
      steps_with(judge(training(sorted, Mode::kTrain, {input}), "UnshuffledLabels"), Outcome::kNotApplicable).size(),
      80u);
  const TestTensor indices = kept_integers("trainwarden/batch/indices", {4, 5}, {"signals"});
  EXPECT_EQ(
      steps_with(judge(training(sorted, Mode::kTrain, {indices}), "UnshuffledLabels"), Outcome::kNotApplicable).size(),
      80u);
  const TestTensor enough = kept_integers("trainwarden/batch/indices", {0, 1, 2, 3, 4, 5, 6, 7}, {"signals"});
  EXPECT_FALSE(
      steps_with(judge(training(sorted, Mode::kTrain, {enough}), "UnshuffledLabels"), Outcome::kFired).empty());
}

TEST(UnshuffledLabels, FloatsAreClassesWhenTheyAreZeroOrOne) {
  for (const auto& [scale, fires] : {std::pair(1.0F, true), std::pair(2.0F, false), std::pair(0.5F, false)}) {
    TestRun run;
    for (std::int64_t step = 0; step < 80; ++step) {
      run.add({.step = step, .tensors = {kept("y", std::vector<float>(8, step < 40 ? 0 : scale), kLabels)}});
    }
    EXPECT_EQ(!steps_with(judge(run, "UnshuffledLabels"), Outcome::kFired).empty(), fires) << scale;
  }
}

TEST(UnshuffledLabels, LossesAndWorkersAreCountedApart) {
  TestRun run(2);
  for (std::int64_t step = 0; step < 80; ++step) {
    run.add({.step = step, .tensors = {kept_integers("y", shuffled(step), kLabels)}, .worker = 0});
    run.add({.step = step, .tensors = {kept_integers("y", sorted(step), kLabels)}, .worker = 1});
  }
  run.end(0);
  run.end(1);
  const auto verdicts = judge(run, "UnshuffledLabels");
  const Steps steps = steps_with(verdicts, Outcome::kFired);
  ASSERT_FALSE(steps.empty());
  EXPECT_EQ(verdicts.at(steps.front()).evidence.at(0).worker, "rank-00001");
}

TEST(UnshuffledLabels, NothingCaptured) {
  TestRun run;
  run.add({.step = 0, .tensors = {reduced("y", {0, 1}, kLabels)}});
  run.add({.step = 1, .tensors = {kept("w", {1})}});
  run.add({.step = 2, .tensors = {shaped(kept("y", {0, 1, 0, 1}, kLabels), {2, 2})}});
  EXPECT_EQ(steps_with(judge(run, "UnshuffledLabels"), Outcome::kNotApplicable), (Steps{0, 1, 2}));
}

}  // namespace
}  // namespace trainwarden::rules
