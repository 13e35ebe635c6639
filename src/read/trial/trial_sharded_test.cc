// Trial::sharded over runs whose workers hold parts of a tensor.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "read/trial/run_testing.h"
#include "read/trial/sharding.h"

namespace trainwarden {
namespace {

std::string shards(std::string_view part, int parts, std::string_view shape = "[4]") {
  return fmt::format(R"({{"tensors": [{{"name": "w", "shape": {}, "part": [{}], "parts": {}}}]}})", shape, part, parts);
}

TestTensor signal(const std::string& text) {
  return strings(std::string(trial::kShardsSignal), {text}, {"signals"});
}

Statistics statistics_of(const std::vector<double>& values) {
  const Shape shape{static_cast<std::int64_t>(values.size())};
  return *compute_statistics(TensorView::of(values.data(), DType::kFloat64, shape));
}

TEST(TrialSharded, PartsArePutTogether) {
  TestRun run(2);
  run.add({.step = 0, .tensors = {signal(shards("0", 2)), reduced("w", {1, 2}), kept("gradient/w", {0, 1})}});
  run.add(
      {.step = 0, .tensors = {signal(shards("1", 2)), reduced("w", {-7, 0}), kept("gradient/w", {5, 5})}, .worker = 1});
  run.add({.step = 1, .tensors = {reduced("w", {1, 1}), kept("optimizer_state/w/exp_avg", {1, 0})}});
  run.add({.step = 1, .tensors = {reduced("w", {2, 2}), kept("optimizer_state/w/exp_avg", {0, 3})}, .worker = 1});
  const auto trial = run.open();
  const auto whole = trial->sharded("w", 0);
  ASSERT_TRUE(whole.ok()) << whole.status().to_string();
  EXPECT_EQ(whole->shape, Shape({4}));
  EXPECT_EQ(whole->statistics, statistics_of({1, 2, -7, 0}));
  EXPECT_EQ(whole->workers, (std::vector<std::string>{"rank-00000", "rank-00001"}));
  EXPECT_EQ(trial->sharded("gradient/w", 0)->statistics, statistics_of({0, 1, 5, 5}));
  EXPECT_EQ(trial->sharded("w", 1)->statistics, statistics_of({1, 1, 2, 2})) << "as it was said at step 0";
  EXPECT_EQ(trial->sharded("optimizer_state/w/exp_avg", 1)->statistics, statistics_of({1, 0, 0, 3}));
}

TEST(TrialSharded, APartThatSeveralHaveCountsOnce) {
  TestRun run(4);
  for (const int worker : {0, 1, 2, 3}) {
    const bool is_second = worker >= 2;
    run.add({.step = 0,
             .tensors = {signal(shards(is_second ? "1, 0" : "0, 0", 2)), reduced("w", {is_second ? 3.0F : 1.0F, 2})},
             .worker = worker});
  }
  const auto whole = run.open()->sharded("w", 0);
  ASSERT_TRUE(whole.ok()) << whole.status().to_string();
  EXPECT_EQ(whole->statistics, statistics_of({1, 2, 3, 2}));
  EXPECT_EQ(whole->workers, (std::vector<std::string>{"rank-00000", "rank-00002"}));
}

TEST(TrialSharded, ItMayBeShardedAnewLater) {
  TestRun run(2);
  for (const int worker : {0, 1}) {
    const std::string part = fmt::format("{}", worker);
    run.add({.step = 0, .tensors = {signal(shards(part, 2)), reduced("w", {1, 2})}, .worker = worker});
    run.add({.step = 5, .tensors = {signal(shards(part, 2, "[2]")), reduced("w", {1})}, .worker = worker});
  }
  const auto trial = run.open();
  EXPECT_EQ(trial->sharded("w", 0)->shape, Shape({4}));
  EXPECT_EQ(trial->sharded("w", 5)->shape, Shape({2}));
}

TEST(TrialSharded, WhatDoesNotFitTogetherIsAnError) {
  TestRun run(2);
  run.add({.step = 0, .tensors = {signal(shards("0", 2)), reduced("w", {1, 2}), reduced("v", {1})}});
  EXPECT_EQ(run.open()->sharded("w", 0).status().code(), Code::kOutOfRange) << "of two parts one is there";
  EXPECT_EQ(run.open()->sharded("v", 0).status().code(), Code::kFailedPrecondition);
  EXPECT_EQ(run.open()->sharded("u", 0).status().code(), Code::kNotFound);
  run.add({.step = 0, .tensors = {signal(shards("1", 2)), reduced("w", {1})}, .worker = 1});
  EXPECT_EQ(run.open()->sharded("w", 0).status().code(), Code::kDataLoss) << "three elements of four";
  run.add({.step = 1, .tensors = {reduced("w", {1, 2})}});
  run.add({.step = 1, .tensors = {signal(shards("1", 3)), reduced("w", {1, 2})}, .worker = 1});
  EXPECT_EQ(run.open()->sharded("w", 1).status().code(), Code::kDataLoss) << "two parts or three";
}

TEST(TrialSharded, ASignalThatIsNoneIsDataLoss) {
  for (const char* text :
       {"", "{}", R"({"tensors": 3})", R"({"tensors": [{}]})", R"({"tensors": [{"name": "w"}]})",
        R"({"tensors": [{"name": "w", "shape": [4], "part": [0], "parts": 0}]})",
        R"({"tensors": [{"name": "w", "shape": [4], "part": ["a"], "parts": 1}]})",
        R"({"tensors": [{"name": "w", "shape": [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1], "part": [0], "parts": 1}]})"}) {
    EXPECT_EQ(trial::find_sharding(text, "w").status().code(), Code::kDataLoss) << text;
  }
  const auto negative =
      trial::find_sharding(R"({"tensors": [{"name": "w", "shape": [-4], "part": [0], "parts": 1}]})", "w");
  EXPECT_FALSE(negative.ok());
}

}  // namespace
}  // namespace trainwarden
