#include "core/base/bounded_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace trainwarden {
namespace {

using namespace std::chrono_literals;

TEST(BoundedQueue, KeepsOrder) {
  BoundedQueue<int> queue(3);
  for (int i : {1, 2, 3}) EXPECT_TRUE(queue.push(i));
  EXPECT_EQ(queue.size(), 3u);
  for (int i : {1, 2, 3}) EXPECT_EQ(queue.pop(0ns), i);
  EXPECT_EQ(queue.size(), 0u);
}

TEST(BoundedQueue, TryPushLeavesTheItemWhenFull) {
  BoundedQueue<std::unique_ptr<int>> queue(1);
  auto first = std::make_unique<int>(1);
  auto second = std::make_unique<int>(2);
  EXPECT_TRUE(queue.try_push(first));
  EXPECT_EQ(first, nullptr);
  EXPECT_FALSE(queue.try_push(second));
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(*second, 2);
}

TEST(BoundedQueue, PopTimesOutOnEmpty) {
  BoundedQueue<int> queue(1);
  EXPECT_EQ(queue.pop(1ms), std::nullopt);
}

TEST(BoundedQueue, ClosedQueueDrainsButTakesNothing) {
  BoundedQueue<int> queue(2);
  EXPECT_TRUE(queue.push(1));
  queue.close();
  EXPECT_TRUE(queue.closed());
  int item = 2;
  EXPECT_FALSE(queue.try_push(item));
  EXPECT_FALSE(queue.push(2));
  EXPECT_EQ(queue.pop(1h), 1);
  EXPECT_EQ(queue.pop(1h), std::nullopt);  // at once: closed and drained
}

TEST(BoundedQueue, CloseWakesWaitingProducersAndConsumers) {
  BoundedQueue<int> full(1);
  ASSERT_TRUE(full.push(0));
  BoundedQueue<int> empty(1);
  std::atomic<int> refused = 0;
  std::atomic<int> without_item = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] { refused += full.push(1) ? 0 : 1; });
      threads.emplace_back([&] { without_item += empty.pop(1h) ? 0 : 1; });
    }
    full.close();
    empty.close();
  }
  EXPECT_EQ(refused, 4);
  EXPECT_EQ(without_item, 4);
}

TEST(BoundedQueue, NothingIsLostOrDoubledBetweenThreads) {
  constexpr int kProducers = 3;
  constexpr int kItems = 2000;
  BoundedQueue<int> queue(7);
  std::vector<std::atomic<int>> seen(kProducers * kItems);
  std::vector<std::jthread> consumers;
  for (int c = 0; c < 3; ++c) {
    consumers.emplace_back([&] {
      while (const auto item = queue.pop(1h)) ++seen[static_cast<std::size_t>(*item)];
    });
  }
  {
    std::vector<std::jthread> producers;
    for (int p = 0; p < kProducers; ++p) {
      producers.emplace_back([&queue, p] {
        for (int i = 0; i < kItems; ++i) ASSERT_TRUE(queue.push(p * kItems + i));
      });
    }
  }
  queue.close();
  consumers.clear();
  for (const auto& count : seen) EXPECT_EQ(count, 1);
}

// Closing while others push and pop: whatever was taken in comes out again.
TEST(BoundedQueue, ConcurrentCloseLosesNothingThatWasTaken) {
  for (int round = 0; round < 200; ++round) {
    BoundedQueue<int> queue(4);
    std::atomic<int> taken = 0;
    std::atomic<int> given = 0;
    {
      std::jthread producer([&] {
        while (queue.push(1)) ++taken;
      });
      std::jthread consumer([&] {
        while (queue.pop(1h)) {
          if (++given == round) queue.close();
        }
      });
      if (round == 0) queue.close();
    }
    EXPECT_EQ(taken, given) << "round " << round;
  }
}

}  // namespace
}  // namespace trainwarden
