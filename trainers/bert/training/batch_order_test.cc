// Each example once in an epoch, whatever the ranks; the same order wherever a training goes on.
#include "training/batch_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace bert {
namespace {

// The real examples of all ranks in one epoch, by step and rank.
std::vector<std::int64_t> examples_of_epoch(BatchOrderOptions options, std::int64_t epoch) {
  std::vector<std::int64_t> all;
  std::vector<BatchOrder> ranks;
  for (options.rank = 0; options.rank < options.ranks; ++options.rank) ranks.emplace_back(options);
  const std::int64_t steps = ranks[0].steps_in_epoch();
  for (std::int64_t step = epoch * steps; step < (epoch + 1) * steps; ++step) {
    std::int64_t real = 0;
    for (BatchOrder& rank : ranks) {
      const Batch batch = rank.batch(step);
      EXPECT_EQ(batch.epoch, epoch);
      EXPECT_EQ(static_cast<std::int64_t>(batch.examples.size()), (options.global_batch - 1) / options.ranks + 1);
      EXPECT_LE(batch.real, static_cast<std::int64_t>(batch.examples.size()));
      all.insert(all.end(), batch.examples.begin(), batch.examples.begin() + batch.real);
      real += batch.real;
    }
    EXPECT_EQ(ranks[0].batch(step).real_of_all_ranks, real);
  }
  return all;
}

std::vector<std::int64_t> sorted(std::vector<std::int64_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

TEST(BatchOrderTest, EachExampleIsThereOnceWithAnyNumberOfRanks) {
  std::vector<std::int64_t> expected(103);
  std::iota(expected.begin(), expected.end(), 0);
  for (const std::int64_t ranks : {1, 2, 3, 4, 7}) {
    for (const std::int64_t epoch : {0, 1}) {
      for (const std::int64_t batch : {7, 8, 20}) {  // that the ranks divide, and that they do not
        const BatchOrderOptions options{.examples = 103, .global_batch = batch, .ranks = ranks, .seed = 9};
        EXPECT_EQ(sorted(examples_of_epoch(options, epoch)), expected) << ranks << " ranks, batches of " << batch;
      }
    }
  }
}

TEST(BatchOrderTest, DroppedIsOnlyTheLastBatch) {
  const std::vector<std::int64_t> all =
      examples_of_epoch({.examples = 103, .global_batch = 20, .ranks = 4, .seed = 9, .last = LastBatch::kDrop}, 0);
  EXPECT_EQ(all.size(), 100u);
  const std::vector<std::int64_t> once = sorted(all);
  EXPECT_EQ(std::adjacent_find(once.begin(), once.end()), once.end());
}

TEST(BatchOrderTest, TheSameGlobalBatchWhateverTheRanks) {
  const auto one = examples_of_epoch({.examples = 99, .global_batch = 8, .ranks = 1, .seed = 3}, 0);
  for (const std::int64_t ranks : {2, 3, 4, 5}) {
    EXPECT_EQ(examples_of_epoch({.examples = 99, .global_batch = 8, .ranks = ranks, .seed = 3}, 0), one) << ranks;
  }
}

TEST(BatchOrderTest, EpochsAndSeedsDiffer) {
  const BatchOrderOptions options{.examples = 50, .global_batch = 10, .seed = 1};
  EXPECT_NE(examples_of_epoch(options, 0), examples_of_epoch(options, 1));
  BatchOrderOptions other = options;
  other.seed = 2;
  EXPECT_NE(examples_of_epoch(options, 0), examples_of_epoch(other, 0));
  other.shuffle = false;
  std::vector<std::int64_t> in_order(50);
  std::iota(in_order.begin(), in_order.end(), 0);
  EXPECT_EQ(examples_of_epoch(other, 1), in_order);
}

TEST(BatchOrderTest, ACounterIsEnoughToGoOn) {
  const BatchOrderOptions options{.examples = 50, .global_batch = 7, .seed = 1};
  BatchOrder whole(options), resumed(options);
  for (std::int64_t step = 0; step < 13; ++step) whole.batch(step);
  EXPECT_EQ(whole.batch(13).examples, resumed.batch(13).examples);
}

// Shuffles are part of what a run means: they may not change between versions or libraries.
TEST(BatchOrderTest, AShuffleIsTheSameEverywhere) {
  std::vector<std::int64_t> counts(6, 0);
  for (std::uint64_t seed = 0; seed < 6000; ++seed) {
    BatchOrder order({.examples = 3, .global_batch = 3, .seed = seed});
    const std::vector<std::int64_t> got = order.batch(0).examples;
    ++counts[static_cast<std::size_t>(got[0] * 2 + (got[1] > got[2] ? 1 : 0))];
  }
  for (const std::int64_t count : counts) EXPECT_NEAR(static_cast<double>(count), 1000, 150);
}

TEST(BatchOrderTest, RepeatsFillTheLastBatchAndAreMarked) {
  BatchOrder order({.examples = 3, .global_batch = 5, .shuffle = false});
  const Batch batch = order.batch(0);
  EXPECT_EQ(batch.examples, (std::vector<std::int64_t>{0, 1, 2, 0, 1}));
  EXPECT_EQ(batch.real, 3);
}

TEST(BatchOrderTest, PartsHaveWhatIsRealOnce) {
  BatchOrder order({.examples = 8, .global_batch = 10, .shuffle = false});
  const std::vector<Batch> parts = cut_real(order.batch(0), 3);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[1].examples, (std::vector<std::int64_t>{3, 4, 5}));
  EXPECT_EQ(parts[2].examples, (std::vector<std::int64_t>{6, 7}));
  EXPECT_EQ(parts[2].real, 2);
  EXPECT_EQ(parts[2].real_of_all_ranks, 8);
  EXPECT_TRUE(cut_real({.examples = {4}}, 3).empty());
}

TEST(BatchOrderTest, SaysWhatCannotBe) {
  EXPECT_THROW(BatchOrder({.examples = 0}), std::runtime_error);
  EXPECT_THROW(BatchOrder({.examples = 5, .global_batch = 0}), std::runtime_error);
  EXPECT_THROW(BatchOrder({.examples = 5, .global_batch = 2, .ranks = 2, .rank = 2}), std::runtime_error);
  EXPECT_THROW(BatchOrder({.examples = 5, .global_batch = 2, .ranks = 3}), std::runtime_error);
  EXPECT_THROW(BatchOrder({.examples = 5, .global_batch = 6, .last = LastBatch::kDrop}), std::runtime_error);
  EXPECT_THROW(BatchOrder({.examples = 5}).batch(-1), std::runtime_error);
}

}  // namespace
}  // namespace bert
