#include "core/base/large_memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>

namespace trainwarden {
namespace {

TEST(LargeMemoryTest, AVectorHoldsWhatItIsGivenWhileItGrows) {
  std::vector<std::int64_t, LargeAllocator<std::int64_t>> numbers;
  constexpr std::int64_t kCount = 3'000'000;  // from a few bytes to huge pages
  for (std::int64_t i = 0; i < kCount; ++i) numbers.push_back(i);
  EXPECT_EQ(std::accumulate(numbers.begin(), numbers.end(), std::int64_t{0}), kCount * (kCount - 1) / 2);
  const auto copy = numbers;
  EXPECT_EQ(copy, numbers);
}

TEST(LargeMemoryTest, RoomIsMadeInStepsThatGrow) {
  std::vector<int, LargeAllocator<int>> numbers;
  std::size_t moves = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::size_t before = numbers.capacity();
    make_room(numbers, 1);
    moves += numbers.capacity() != before ? 1 : 0;
    numbers.push_back(i);
  }
  EXPECT_LT(moves, 20u);
  make_room(numbers, 100'000);
  EXPECT_GE(numbers.capacity(), 110'000u);
}

TEST(LargeMemoryTest, BytesAreMovedNotCopied) {
  LargeBytes bytes(std::size_t{5} << 20);
  bytes.span()[123] = std::byte{7};
  const std::byte* const place = bytes.span().data();
  LargeBytes moved = std::move(bytes);
  EXPECT_EQ(moved.span().data(), place);
  EXPECT_EQ(moved.span()[123], std::byte{7});
  moved = LargeBytes();
  EXPECT_TRUE(LargeBytes(0).span().empty());
}

}  // namespace
}  // namespace trainwarden
