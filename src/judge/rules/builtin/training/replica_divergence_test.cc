#include <set>

#include "judge/rules/builtin/training/signal_testing.h"

namespace trainwarden::rules {
namespace {

using Steps = std::vector<std::int64_t>;

TestTensor weight(const std::string& name, std::vector<float> values) {
  return summarised(name, std::move(values), {"weights"});
}

// Two workers; what the second one's weight "a" is at the steps 0, 10, 20, ..., while it is `i` on the first. "b" is
// the same on both.
TestRun replica_run(const std::vector<float>& second) {
  TestRun run(2);
  for (std::size_t i = 0; i < second.size(); ++i) {
    for (const int worker : {0, 1}) {
      const float a = worker == 0 ? static_cast<float>(i) : second[i];
      run.add({.step = static_cast<std::int64_t>(10 * i),
               .tensors = {weight("a", {a, 1}), weight("b", {2, 3})},
               .worker = worker});
    }
  }
  return run;
}

TEST(ReplicaDivergence, TheSameWeightsAreOk) {
  EXPECT_EQ(steps_with(judge(replica_run({0, 1, 2}), "ReplicaDivergence"), Outcome::kOk), (Steps{0, 10, 20}));
}

TEST(ReplicaDivergence, FiresAtTheSecondDifference) {
  const auto verdicts = judge(replica_run({0, 1, 2.5F, 3.5F}), "ReplicaDivergence");
  EXPECT_EQ(steps_with(verdicts, Outcome::kOk), (Steps{0, 10, 20}));
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{30}));
  const Verdict& verdict = verdicts.at(30);
  EXPECT_EQ(verdict.severity, Severity::kError);
  ASSERT_EQ(verdict.evidence.size(), 1u);
  EXPECT_EQ(verdict.evidence[0].tensor, "a");
  EXPECT_EQ(verdict.evidence[0].value, 2);
  EXPECT_NE(verdict.message.find("1 of 2 weights"), std::string::npos) << verdict.message;
}

TEST(ReplicaDivergence, OneBitIsEnough) {
  EXPECT_EQ(steps_with(judge(replica_run({0, 1, 2.0000002F, 3.0000002F, 4}), "ReplicaDivergence"), Outcome::kFired),
            (Steps{30}));
}

TEST(ReplicaDivergence, AWeightThatComesBackIsFine) {
  EXPECT_TRUE(steps_with(judge(replica_run({0, 9, 2, 9, 4, 9}), "ReplicaDivergence"), Outcome::kFired).empty());
}

// All weights of two workers, which train apart and average at the steps in `together`.
TestRun run_of_averages(int comparisons, const std::set<int>& together) {
  TestRun run(2);
  for (int i = 0; i < comparisons; ++i) {
    for (const int worker : {0, 1}) {
      const float value = static_cast<float>(i) + (together.contains(i) ? 0.0F : 0.5F * static_cast<float>(worker));
      run.add({.step = 10 * i, .tensors = {weight("a", {value}), weight("b", {value, 1})}, .worker = worker});
    }
  }
  return run;
}

TEST(ReplicaDivergence, WorkersThatAverageNowAndThenAreFine) {
  EXPECT_TRUE(steps_with(judge(run_of_averages(16, {0, 4, 8, 12}), "ReplicaDivergence"), Outcome::kFired).empty());
}

TEST(ReplicaDivergence, AWorkerThatEvaluatesInBetweenLagsBehind) {
  TestRun run(2);
  for (std::int64_t step = 0; step < 20; ++step) {
    for (const int worker : {0, 1}) {
      const std::int64_t trained = worker == 0 && step > 4 ? step - 2 : step;
      run.add({.step = step, .tensors = {weight("a", {static_cast<float>(trained), 1})}, .worker = worker});
    }
  }
  EXPECT_TRUE(steps_with(judge(run, "ReplicaDivergence"), Outcome::kFired).empty());
}

TEST(ReplicaDivergence, WhereAllWeightsDifferItWaitsForAnAverage) {
  EXPECT_EQ(steps_with(judge(run_of_averages(10, {0}), "ReplicaDivergence"), Outcome::kFired), (Steps{80, 90}));
}

TEST(ReplicaDivergence, WhatNeverWasTheSameIsANote) {
  const auto verdicts = judge(replica_run({9, 9, 9}), "ReplicaDivergence");
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{10, 20}));
  EXPECT_EQ(verdicts.at(10).severity, Severity::kInfo);
}

TEST(ReplicaDivergence, TheOddOneOfThree) {
  TestRun run(3);
  for (const std::int64_t step : {0, 10, 20}) {
    for (const int worker : {0, 1, 2}) {
      const float value = step > 0 && worker == 1 ? 5 : 1;
      run.add({.step = step, .tensors = {weight("a", {value})}, .worker = worker});
    }
  }
  EXPECT_EQ(judge(run, "ReplicaDivergence").at(20).evidence.at(0).worker, "rank-00001");
}

TEST(ReplicaDivergence, NotApplicable) {
  TestRun single;
  single.add({.step = 0, .tensors = {weight("a", {1})}});
  EXPECT_EQ(judge(single, "ReplicaDivergence").at(0).outcome, Outcome::kNotApplicable);
  TestRun shards(2);
  shards.add({.step = 0, .tensors = {weight("a", {1})}, .worker = 0});
  shards.add({.step = 0, .tensors = {weight("a", {1, 2})}, .worker = 1});
  EXPECT_EQ(judge(shards, "ReplicaDivergence").at(0).outcome, Outcome::kNotApplicable);
  TestRun no_hash(2);
  for (const int worker : {0, 1})
    no_hash.add({.step = 0, .tensors = {reduced("a", {1}, {"weights"})}, .worker = worker});
  EXPECT_EQ(judge(no_hash, "ReplicaDivergence").at(0).outcome, Outcome::kNotApplicable);
  TestRun one_has_it(2);
  one_has_it.add({.step = 0, .tensors = {weight("a", {1})}, .worker = 0});
  one_has_it.add({.step = 0, .worker = 1});
  EXPECT_EQ(judge(one_has_it, "ReplicaDivergence").at(0).outcome, Outcome::kNotApplicable);
}

TEST(ReplicaDivergence, WhatTheProgramHasFoundIsBelieved) {
  TestRun run(2);
  for (const std::int64_t step : {0, 1}) {
    for (const int worker : {0, 1})
      run.add({.step = step,
               .tensors = {signal(signals::kReplicaDiffers, worker == 1 && step == 1 ? 1 : 0)},
               .worker = worker});
  }
  const auto verdicts = judge(run, "ReplicaDivergence");
  EXPECT_EQ(verdicts.at(0).outcome, Outcome::kNotApplicable) << "no hash of a weight";
  ASSERT_EQ(verdicts.at(1).outcome, Outcome::kFired);
  EXPECT_EQ(verdicts.at(1).severity, Severity::kError);
  EXPECT_EQ(verdicts.at(1).evidence.at(0).worker, "rank-00001");
}

// A training that lost a worker goes on with those that are left.
TEST(ReplicaDivergence, WorkersThatAreGoneAreNotAwaited) {
  TestRun run(3);
  for (const std::int64_t step : {0, 10, 20, 30, 40}) {
    for (const int worker : {0, 1, 2}) {
      if (step > 10 && worker == 2) continue;
      const float value = static_cast<float>(step) + (step > 20 && worker == 1 ? 0.5F : 0.0F);
      run.add({.step = step, .tensors = {weight("a", {value}), weight("b", {2})}, .worker = worker});
    }
  }
  run.kill(2);
  const auto verdicts = judge(run, "ReplicaDivergence");
  EXPECT_EQ(steps_with(verdicts, Outcome::kOk), (Steps{0, 10, 20, 30}));
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{40}));
}

TEST(ReplicaDivergence, DifferentModelsAreNotCompared) {
  TestRun run(2);
  for (const std::int64_t step : {0, 10, 20}) {
    for (const int worker : {0, 1}) {
      const std::string model = worker == 0 ? R"({"modules": []})" : R"({"modules": [{"name": "x", "kind": "X"}]})";
      run.add({.step = step,
               .tensors = {weight("a", {static_cast<float>(worker)}), text_signal(signals::kModel, model)},
               .worker = worker});
    }
  }
  EXPECT_EQ(judge(run, "ReplicaDivergence").at(20).outcome, Outcome::kNotApplicable);
}

}  // namespace
}  // namespace trainwarden::rules
