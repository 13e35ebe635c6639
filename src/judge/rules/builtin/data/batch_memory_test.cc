#include "judge/rules/builtin/data/batch_memory.h"

#include <gtest/gtest.h>

namespace trainwarden::rules {
namespace {

// Hashes in the order in which the loader gave them, each batch with samples of its own.
struct Loader {
  BatchMemory memory;
  LoaderPlace place = {0, -1};
  std::uint64_t samples = 1000;

  void give(std::uint64_t hash) {
    ++place.number;
    memory.add({hash, 64, place, samples++});
  }
  void begin_epoch() { place = {place.epoch + 1, -1}; }
};

TEST(BatchMemory, EachBatchTwiceIsAFault) {
  Loader loader;
  for (std::uint64_t hash = 0; hash < 3; ++hash) {
    loader.give(hash);
    loader.give(hash);
  }
  EXPECT_FALSE(loader.memory.repeats_are_a_fault());  // three of six
  loader.give(3);
  loader.give(3);
  EXPECT_TRUE(loader.memory.repeats_are_a_fault());
  EXPECT_EQ(loader.memory.repeats(), 4u);
}

TEST(BatchMemory, AQuarterIsAskedFor) {
  for (const auto& [period, is_fault] : {std::pair<std::uint64_t, bool>(4, true), {5, false}}) {
    Loader loader;
    for (std::uint64_t hash = 0; hash < 64; ++hash) loader.give(hash % period == period - 1 ? hash - 1 : hash);
    EXPECT_EQ(loader.memory.repeats_are_a_fault(), is_fault) << period;
  }
}

TEST(BatchMemory, EpochsWithoutShufflingAreFine) {
  Loader loader;
  for (int epoch = 0; epoch < 20; ++epoch) {
    for (std::uint64_t hash = 0; hash < 5; ++hash) loader.give(hash);
    loader.begin_epoch();
  }
  EXPECT_EQ(loader.memory.repeats(), 0u);
}

TEST(BatchMemory, AShortSetThatIsGoneThroughAgainIsFine) {
  Loader loader;  // without an epoch's end: an index modulo the size of the set
  for (std::uint64_t i = 0; i < 100; ++i) loader.give(i % 6);
  EXPECT_GT(loader.memory.repeats(), 20u);
  EXPECT_FALSE(loader.memory.repeats_are_a_fault());
}

TEST(BatchMemory, SamplesThatWereAskedForTwiceAreFine) {
  BatchMemory memory;
  for (std::int64_t i = 0; i < 40; ++i) {
    const auto batch = static_cast<std::uint64_t>(i / 2);
    memory.add({batch, 64, LoaderPlace{0, i}, batch});
  }
  EXPECT_EQ(memory.repeats(), 0u);
}

TEST(BatchMemory, TwoStepsWithOneBatchAreFine) {
  BatchMemory memory;  // the second step of each takes nothing, or gets the same place
  for (std::int64_t i = 0; i < 40; ++i) {
    const auto hash = static_cast<std::uint64_t>(i);
    memory.add({hash, 64, LoaderPlace{0, i}});
    memory.add({hash, 64, i % 2 == 0 ? std::optional<LoaderPlace>() : LoaderPlace{0, i}});
  }
  EXPECT_EQ(memory.repeats(), 0u);
  EXPECT_EQ(memory.stuck_steps(2), 0);
}

TEST(BatchMemory, ABatchThatStaysAfterOthersIsStuck) {
  Loader loader;
  for (std::uint64_t hash = 0; hash < 9; ++hash) loader.give(hash);
  for (int i = 0; i < 9; ++i) loader.give(8);
  EXPECT_EQ(loader.memory.stuck_steps(10), 10);
  EXPECT_EQ(loader.memory.stuck_steps(11), 0);
}

TEST(BatchMemory, TheWholeSetAsOneBatchIsNotStuck) {
  BatchMemory memory;
  for (int i = 0; i < 100; ++i) memory.add({7, 64, {}});
  EXPECT_EQ(memory.stuck_steps(1), 0);
}

TEST(BatchMemory, SeveralStepsOnEachBatchAreNotStuck) {
  BatchMemory memory;
  for (std::uint64_t i = 0; i < 1000; ++i) memory.add({i / 10, 64, {}});
  for (int i = 0; i < 80; ++i) memory.add({99, 64, {}});
  EXPECT_EQ(memory.stuck_steps(50), 0);  // 90 steps, not ten times 10
  for (int i = 0; i < 10; ++i) memory.add({99, 64, {}});
  EXPECT_EQ(memory.stuck_steps(50), 100);
}

TEST(BatchMemory, AnotherSizeIsAnotherPhase) {
  Loader loader;
  for (std::uint64_t hash = 0; hash < 20; ++hash) loader.give(hash);
  for (int i = 0; i < 100; ++i) loader.memory.add({77, 6400, {}});  // the whole set from here on
  EXPECT_EQ(loader.memory.stuck_steps(50), 0);
}

}  // namespace
}  // namespace trainwarden::rules
