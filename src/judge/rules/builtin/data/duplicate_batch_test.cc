#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "judge/rules/builtin/rule_testing.h"

namespace trainwarden::rules {
namespace {

using Steps = std::vector<std::int64_t>;

// 40 different numbers for each `batch`.
std::vector<float> numbers_of(std::int64_t batch, int count = 40) {
  std::vector<float> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(static_cast<float>(batch) + 0.01F * static_cast<float>(i));
  return numbers;
}

TestTensor input(std::int64_t batch, int count = 40) {
  return summarised("Net_input_0", numbers_of(batch, count), {"batch_inputs"});
}

using Pattern = std::function<std::int64_t(std::int64_t step)>;

// With the signals of a loader that counts each step's batch as a new one.
TestRun from_loader(const Pattern& batch_at, Mode mode = Mode::kTrain) {
  TestRun run;
  for (std::int64_t step = 0; step < 60; ++step) {
    run.add({.step = step,
             .tensors = {input(batch_at(step)), scalar("trainwarden/batch/epoch", 0, {"signals"}),
                         scalar("trainwarden/batch/number", static_cast<float>(step), {"signals"}),
                         kept_integers("trainwarden/batch/indices", {2 * step, 2 * step + 1}, {"signals"})},
             .mode = mode});
  }
  return run;
}

TEST(DuplicateBatch, BatchesThatComeTwice) {
  const auto verdicts = judge(from_loader([](std::int64_t step) { return step / 2; }), "DuplicateBatch");
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired).front(), 7);
  const Verdict verdict = verdicts.at(7);
  EXPECT_EQ(verdict.evidence.at(0).tensor, "Net_input_0");
  EXPECT_EQ(verdict.evidence.at(0).quantity, "repeated_batch_share");
  EXPECT_EQ(verdict.evidence.at(0).value, 0.5);
}

TEST(DuplicateBatch, DifferentBatchesAreOk) {
  const auto verdicts = judge(from_loader([](std::int64_t step) { return step; }), "DuplicateBatch");
  EXPECT_EQ(steps_with(verdicts, Outcome::kOk).size(), 60u);
}

TEST(DuplicateBatch, WithoutALoaderRepeatsMayBeMeant) {
  TestRun run;
  for (std::int64_t step = 0; step < 60; ++step) run.add({.step = step, .tensors = {input(step / 2)}});
  EXPECT_EQ(steps_with(judge(run, "DuplicateBatch"), Outcome::kOk).size(), 60u);
}

TEST(DuplicateBatch, ABatchThatStays) {
  TestRun run;
  for (std::int64_t step = 0; step < 80; ++step) {
    run.add({.step = step, .tensors = {input(std::min<std::int64_t>(step, 20))}});
  }
  const auto verdicts = judge(run, "DuplicateBatch");
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired).front(), 69);  // the 50th step with it
  EXPECT_EQ(verdicts.at(69).evidence.at(0).quantity, "same_batch_steps");
  EXPECT_LT(verdicts.at(69).confidence, 1);
  EXPECT_EQ(steps_with(judge(run, "DuplicateBatch:stuck_steps=61"), Outcome::kFired).size(), 0u);
}

TestRun two_workers(const Pattern& of_first, const Pattern& of_second) {
  TestRun run(2);
  for (std::int64_t step = 0; step < 20; ++step) {
    run.add({.step = step, .tensors = {input(of_first(step))}, .worker = 0});
    run.add({.step = step, .tensors = {input(of_second(step))}, .worker = 1});
  }
  run.end(0);
  run.end(1);
  return run;
}

TEST(DuplicateBatch, WorkersWithTheSameBatches) {
  const auto each_step = [](std::int64_t step) { return step; };
  const auto verdicts = judge(two_workers(each_step, each_step), "DuplicateBatch");
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired).front(), 4);
  ASSERT_EQ(verdicts.at(4).evidence.size(), 2u);
  EXPECT_EQ(verdicts.at(4).evidence[0].worker, "rank-00000");
  EXPECT_EQ(verdicts.at(4).evidence[1].worker, "rank-00001");
}

TEST(DuplicateBatch, WorkersThatShareAModelHaveTheSameBatches) {
  TestRun run(3);
  for (std::int64_t step = 0; step < 20; ++step) {
    for (const int worker : {0, 1, 2}) {
      const float group = worker < 2 ? 0 : 2;
      const std::int64_t batch = worker < 2 ? step : step + 100;
      run.add({.step = step,
               .tensors = {input(batch), scalar("trainwarden/batch/group", group, {"signals"})},
               .worker = worker});
    }
  }
  for (const int worker : {0, 1, 2}) run.end(worker);
  EXPECT_EQ(steps_with(judge(run, "DuplicateBatch"), Outcome::kOk).size(), 20u);
}

TEST(DuplicateBatch, GroupsOfWorkersWithTheSameBatches) {
  TestRun run(2);
  for (std::int64_t step = 0; step < 20; ++step) {
    for (const int worker : {0, 1}) {
      const float group = static_cast<float>(worker);
      run.add({.step = step,
               .tensors = {input(step), scalar("trainwarden/batch/group", group, {"signals"})},
               .worker = worker});
    }
  }
  for (const int worker : {0, 1}) run.end(worker);
  EXPECT_EQ(steps_with(judge(run, "DuplicateBatch"), Outcome::kFired).front(), 4);
}

TEST(DuplicateBatch, WorkersWithPartsOfTheirOwn) {
  const auto first = [](std::int64_t step) { return step; };
  const auto second = [](std::int64_t step) { return step % 5 == 4 ? step + 100 : step; };  // four in a row at most
  EXPECT_EQ(steps_with(judge(two_workers(first, second), "DuplicateBatch"), Outcome::kOk).size(), 20u);
}

TEST(DuplicateBatch, WhatIsEqualByChanceIsNotJudged) {
  TestRun run;
  run.add({.step = 0, .tensors = {input(0, 31)}});
  run.add({.step = 1, .tensors = {summarised("Net_input_0", std::vector<float>(64, 1), {"batch_inputs"})}});
  run.add({.step = 2, .tensors = {summarised("Net_input_0", std::vector<float>(64, NAN), {"batch_inputs"})}});
  run.add({.step = 3, .tensors = {input(0, 32)}});
  const auto verdicts = judge(run, "DuplicateBatch");
  EXPECT_EQ(steps_with(verdicts, Outcome::kNotApplicable), (Steps{0, 1, 2}));
  EXPECT_EQ(verdicts.at(3).outcome, Outcome::kOk);
}

TEST(DuplicateBatch, OnlyTrainingIsJudgedAndAHashIsNeeded) {
  const auto verdicts = judge(from_loader([](std::int64_t step) { return step / 2; }, Mode::kEval), "DuplicateBatch");
  EXPECT_EQ(steps_with(verdicts, Outcome::kNotApplicable).size(), 60u);
  TestRun run;
  run.add({.step = 0, .tensors = {reduced("Net_input_0", numbers_of(1), {"batch_inputs"})}});
  run.add({.step = 1, .tensors = {kept("Net_input_0", numbers_of(1), {"batch_inputs"})}});  // hashed here
  run.add({.step = 2, .tensors = {kept("w", {1})}});
  const auto others = judge(run, "DuplicateBatch");
  EXPECT_EQ(steps_with(others, Outcome::kNotApplicable), (Steps{0, 2}));
  EXPECT_EQ(others.at(1).outcome, Outcome::kOk);
}

}  // namespace
}  // namespace trainwarden::rules
