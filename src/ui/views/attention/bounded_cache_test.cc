#include "ui/views/attention/bounded_cache.h"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace trainwarden::views::attention {
namespace {

using Cache = BoundedCache<int, std::string>;

std::string get(Cache& cache, int key, int& made) {
  const auto make = [&]() -> Result<std::string> {
    ++made;
    return std::string(10, static_cast<char>('a' + key));
  };
  return **cache.get(key, make, [](const std::string& text) { return text.size(); });
}

TEST(BoundedCache, ForgetsWhatWasNotLookedAtForLongest) {
  Cache cache(25);
  int made = 0;
  get(cache, 0, made);
  get(cache, 1, made);
  get(cache, 0, made);
  EXPECT_EQ(made, 2);
  EXPECT_EQ(get(cache, 2, made), "cccccccccc");  // 1 goes
  get(cache, 0, made);
  EXPECT_EQ(made, 3);
  get(cache, 1, made);
  EXPECT_EQ(made, 4);
}

TEST(BoundedCache, KeepsNoError) {
  Cache cache(100);
  const auto fail = []() -> Result<std::string> { return Status(Code::kDataLoss, "broken"); };
  EXPECT_EQ(cache.get(1, fail, [](const std::string&) { return 1U; }).status().code(), Code::kDataLoss);
  int made = 0;
  get(cache, 1, made);
  EXPECT_EQ(made, 1);
}

TEST(BoundedCache, MakesAValueOnceForManyThreads) {
  Cache cache(100);
  std::atomic<int> made = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int key = 0; key < 8; ++key) {
        const auto make = [&]() -> Result<std::string> {
          ++made;
          return std::string("text");
        };
        EXPECT_EQ(**cache.get(key, make, [](const std::string& text) { return text.size(); }), "text");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 8);
}

}  // namespace
}  // namespace trainwarden::views::attention
