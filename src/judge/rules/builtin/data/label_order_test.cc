#include "judge/rules/builtin/data/label_order.h"

#include <random>

#include <gtest/gtest.h>

namespace trainwarden::rules {
namespace {

constexpr double kHalf = 0.5;

Classes repeated(std::int64_t label, std::size_t count) {
  return Classes(count, label);
}

TEST(LabelOrder, SortedClassesAreOrderedSoonAfterTheSecondBegins) {
  LabelOrder order;
  for (int i = 0; i < 90; ++i) order.add(repeated(0, 8));
  EXPECT_FALSE(order.is_ordered(kHalf));  // one class says nothing
  int batches = 0;
  while (!order.is_ordered(kHalf) && batches < 90) {
    order.add(repeated(1, 8));
    ++batches;
  }
  EXPECT_GT(batches, 2);
  EXPECT_LE(batches, 25);
}

TEST(LabelOrder, ClassesSmallerThanABatch) {
  LabelOrder order;  // 100 classes of 10 samples, in batches of 32
  std::int64_t sample = 0;
  for (int i = 0; i < 31; ++i) {
    Classes batch;
    for (int j = 0; j < 32; ++j) batch.push_back(sample++ / 10);
    order.add(batch);
  }
  EXPECT_TRUE(order.is_ordered(kHalf));
}

TEST(LabelOrder, ShuffledClassesOfAnyBalanceAreNot) {
  for (const double share : {0.5, 0.9, 0.99, 0.999}) {
    std::mt19937 random(1);
    std::bernoulli_distribution is_common(share);
    LabelOrder order;
    for (int i = 0; i < 500; ++i) {
      Classes batch;
      for (int j = 0; j < 16; ++j) batch.push_back(is_common(random) ? 1 : 0);
      order.add(batch);
      ASSERT_FALSE(order.is_ordered(kHalf)) << share << " at " << i;
    }
  }
}

TEST(LabelOrder, OneSampleAtATime) {
  LabelOrder sorted;
  LabelOrder shuffled;
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    sorted.add({i / 50});
    shuffled.add({static_cast<std::int64_t>(random() % 6)});
  }
  EXPECT_TRUE(sorted.is_ordered(kHalf));
  EXPECT_FALSE(shuffled.is_ordered(kHalf));
}

TEST(LabelOrder, SeveralSamplesOfAClassInABatchAreFine) {
  std::mt19937 random(1);
  LabelOrder order;  // metric learning: 8 classes of 4 samples in each batch
  for (int i = 0; i < 200; ++i) {
    Classes batch;
    for (int j = 0; j < 8; ++j) batch.insert(batch.end(), 4, static_cast<std::int64_t>(random() % 50));
    order.add(batch);
  }
  EXPECT_GT(order.within(), 0.7);
  EXPECT_FALSE(order.is_ordered(kHalf));
}

TEST(LabelOrder, TheTwoLossesOfAGanAreFine) {
  LabelOrder order;  // real ones, fakes, and the generator's wish, in each step
  for (int i = 0; i < 200; ++i) {
    for (const std::int64_t label : {1, 0, 1}) order.add(repeated(label, 16));
  }
  EXPECT_EQ(order.within(), 1);
  EXPECT_FALSE(order.is_ordered(kHalf));
}

TEST(LabelOrder, TheWholeSetAsOneBatchIsFine) {
  for (const Classes& set : {Classes{0, 0, 0, 0, 1, 1, 1, 1}, Classes{0, 0, 0, 1, 1, 1, 0, 0, 0}}) {
    LabelOrder order;
    for (int i = 0; i < 200; ++i) order.add(set);
    EXPECT_FALSE(order.is_ordered(kHalf));
    EXPECT_EQ(order.batches(), 1);
  }
}

TEST(LabelOrder, NumbersThatAreNoClassesAreLeft) {
  LabelOrder order;
  for (std::int64_t i = 0; i < 100; ++i) {
    Classes batch;
    for (std::int64_t j = 0; j < 32; ++j) batch.push_back(i * 16 + j / 2);  // sorted, but 1600 of them
    order.add(batch);
  }
  EXPECT_FALSE(order.is_ordered(kHalf));
  EXPECT_LE(order.classes(), LabelOrder::kMostClasses + 32);
}

}  // namespace
}  // namespace trainwarden::rules
