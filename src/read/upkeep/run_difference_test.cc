#include "read/upkeep/run_difference.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "read/trial/run_testing.h"

namespace trainwarden::upkeep {
namespace {

// Twelve steps with a weight, a loss and statistics; `change` may alter a step before it is written.
TestRun diffed_run(const std::function<void(TestStep&)>& change = {}, int workers = 1) {
  TestRun run(workers);
  for (int worker = 0; worker < workers; ++worker) {
    for (int i = 0; i < 12; ++i) {
      const auto x = static_cast<float>(i);
      TestStep step{.step = i, .worker = worker};
      step.tensors = {kept("w", {x, x + 1, x + 2}), kept("v", {x}), scalar("loss", 1 / (x + 1)),
                      summarised("seen", {x, 2 * x})};
      if (change) change(step);
      run.add(step);
    }
    run.end(worker);
  }
  return run;
}

RunDifference diff(const TestRun& a, const TestRun& b, DiffQuestion question = {}) {
  if (question.threads == 0) question.threads = 3;
  const auto difference = diff_runs(storage::Location(a.storage(), "a"), storage::Location(b.storage(), "b"), question);
  EXPECT_TRUE(difference.ok()) << difference.status().to_string();
  return difference.value_or({});
}

const TensorDifference* find(const RunDifference& difference, std::string_view tensor) {
  const auto found = std::find_if(difference.tensors.begin(), difference.tensors.end(),
                                  [&](const TensorDifference& each) { return each.tensor == tensor; });
  return found == difference.tensors.end() ? nullptr : &*found;
}

TEST(RunDifference, TheSameTrainingTwiceIsTheSame) {
  const RunDifference difference = diff(diffed_run(), diffed_run());
  EXPECT_TRUE(difference.same());
  EXPECT_EQ(difference.first_step(), -1);
  EXPECT_EQ(difference.compared_steps, 12u);
  ASSERT_EQ(difference.tensors.size(), 4u);
  EXPECT_EQ(difference.tensors[0].tensor, "w");  // as it was saved, not by name
  for (const TensorDifference& tensor : difference.tensors) EXPECT_EQ(tensor.compared, 12u);
}

TEST(RunDifference, TheFirstStepAndTensorThatDifferAreFoundWhateverTheThreads) {
  const auto changed = diffed_run([](TestStep& step) {
    if (step.step >= 5) step.tensors[1].values[0] += 1;
    if (step.step >= 7) step.tensors[0].values[2] += static_cast<float>(step.step);
  });
  for (const int threads : {1, 2, 8}) {
    const RunDifference difference = diff(diffed_run(), changed, {.threads = threads});
    EXPECT_FALSE(difference.same());
    EXPECT_EQ(difference.first_step(), 5);
    EXPECT_EQ(difference.tensors[0].tensor, "v");
    EXPECT_EQ(difference.tensors[0].differing, 7u);
    EXPECT_EQ(difference.tensors[1].tensor, "w");
    EXPECT_EQ(difference.tensors[1].first_step, 7);
    EXPECT_EQ(difference.tensors[1].max_abs, 11);
    EXPECT_EQ(difference.tensors[1].worst_step, 11);
    EXPECT_EQ(difference.tensors[1].at_first.first, 2);
    EXPECT_FALSE(find(difference, "loss")->differs());
  }
}

TEST(RunDifference, WithFirstOnlyNothingBehindTheFirstStepIsSaid) {
  const auto changed = diffed_run([](TestStep& step) {
    if (step.step >= 5) step.tensors[1].values[0] += 1;
    if (step.step >= 7) step.tensors[0].values[2] += 1;
  });
  const RunDifference difference = diff(diffed_run(), changed, {.first_only = true, .threads = 1});
  EXPECT_EQ(difference.first_step(), 5);
  EXPECT_EQ(difference.compared_steps, 6u);
  EXPECT_FALSE(find(difference, "w")->differs());
}

TEST(RunDifference, StatisticsStandInForValues) {
  const auto reduced_run = diffed_run([](TestStep& step) {
    step.tensors[0] = summarised("w", step.tensors[0].values);
    if (step.step == 3) step.tensors[0].values[0] = 100;
  });
  const RunDifference difference = diff(diffed_run(), reduced_run);
  const TensorDifference* w = find(difference, "w");
  ASSERT_NE(w, nullptr);
  EXPECT_EQ(w->by_statistics, 12u);
  EXPECT_EQ(w->differing, 1u);
  EXPECT_EQ(w->first_step, 3);
  EXPECT_EQ(find(difference, "seen")->by_statistics, 12u);
}

TEST(RunDifference, WhatOnlyOneHasIsNamed) {
  const auto other = diffed_run([](TestStep& step) {
    if (step.step >= 9) step.tensors.erase(step.tensors.begin());  // w is not saved any more
    step.tensors.push_back(kept("extra", {1}));
  });
  TestRun longer = diffed_run();
  const RunDifference difference = diff(longer, other);
  EXPECT_FALSE(difference.same());
  EXPECT_EQ(difference.tensors_only_b, std::vector<std::string>{"extra"});
  EXPECT_TRUE(difference.tensors_only_a.empty());
  EXPECT_EQ(find(difference, "w")->only_a, 3u);
  EXPECT_EQ(difference.first_step(), 9);

  TestRun shorter;
  for (int i = 0; i < 3; ++i) shorter.add({.step = i, .tensors = {kept("w", {static_cast<float>(i)})}});
  shorter.end();
  const RunDifference steps = diff(shorter, longer, {.include = {"^w$"}});
  EXPECT_EQ(steps.steps_only_b.size(), 9u);
  EXPECT_EQ(steps.tensors.size(), 1u);
  EXPECT_EQ(steps.tensors[0].at_first.what, "shape [1] and [3]");
}

TEST(RunDifference, WorkersAreComparedWithTheirOwn) {
  const auto other = diffed_run(
      [](TestStep& step) {
        if (step.worker == 1 && step.step == 4) step.tensors[1].values[0] = -1;
      },
      2);
  const RunDifference difference = diff(diffed_run({}, 2), other);
  EXPECT_EQ(difference.tensors.size(), 8u);
  EXPECT_EQ(difference.tensors[0].worker, "rank-00001");
  EXPECT_EQ(difference.tensors[0].tensor, "v");
  EXPECT_FALSE(difference.tensors[1].differs());
  EXPECT_EQ(diff(diffed_run(), diffed_run({}, 2)).workers_only_b, std::vector<std::string>{"rank-00001"});
}

TEST(RunDifference, StepsAndToleranceNarrowIt) {
  const auto changed = diffed_run([](TestStep& step) {
    if (step.step == 2) step.tensors[1].values[0] += 1e-6f;
  });
  EXPECT_FALSE(diff(diffed_run(), changed).same());
  EXPECT_TRUE(diff(diffed_run(), changed, {.tolerance = {.rtol = 1e-5}}).same());
  EXPECT_TRUE(diff(diffed_run(), changed, {.first_step = 3}).same());
  EXPECT_TRUE(diff(diffed_run(), changed, {.end_step = 2}).same());
  EXPECT_TRUE(diff(diffed_run(), changed, {.include = {"loss", "seen"}}).same());
  DiffQuestion bad;
  bad.include = {"("};
  EXPECT_EQ(diff_runs(storage::Location(changed.storage()), storage::Location(changed.storage()), bad).status().code(),
            Code::kInvalidArgument);
}

TEST(RunDifference, WhatCannotBeReadIsCountedAndIsNotTheSame) {
  const TestRun a = diffed_run();
  const TestRun b = diffed_run();
  const std::string path = "journal/rank-00000/seg-00000000.tw";
  std::string content = b.storage()->content(path);
  const float element = 9.0f;  // of w at step 7, 8 and 9
  const std::string pattern(reinterpret_cast<const char*>(&element), sizeof element);
  const std::size_t at = content.find(pattern);
  ASSERT_NE(at, std::string::npos);
  content[at] ^= 0x40;
  b.storage()->set_content(path, content);
  const RunDifference difference = diff(a, b);
  EXPECT_GT(difference.unreadable, 0u);
  EXPECT_EQ(difference.first_step(), -1);
  EXPECT_FALSE(difference.same());
}

}  // namespace
}  // namespace trainwarden::upkeep
