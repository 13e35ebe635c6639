#include "hook/capture/staging/staging_area.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <thread>
#include <vector>

namespace trainwarden::capture {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

std::unique_ptr<StagingArea> area_of(std::size_t bytes) {
  auto area = StagingArea::create(bytes);
  EXPECT_TRUE(area.ok()) << area.status().to_string();
  return *std::move(area);
}

TEST(StagingArea, SlotsAreAlignedWritableAndApart) {
  const auto area = area_of(kMiB);
  StagingArea::Share share(*area);
  std::vector<MutableByteSpan> slots;
  for (const std::size_t bytes : {1u, 63u, 64u, 65u, 5000u, 20000u, 100000u}) {
    const auto slot = share.allocate(bytes);
    ASSERT_TRUE(slot.has_value());
    EXPECT_EQ(slot->size(), bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(slot->data()) % 64, 0u);
    std::memset(slot->data(), static_cast<int>(bytes % 251), bytes);
    slots.push_back(*slot);
  }
  for (const MutableByteSpan slot : slots) {
    for (const std::byte byte : slot) ASSERT_EQ(std::to_integer<std::size_t>(byte), slot.size() % 251);
  }
}

TEST(StagingArea, NothingNeedsNoRoom) {
  const auto area = area_of(4096);
  StagingArea::Share share(*area);
  EXPECT_TRUE(share.allocate(0).has_value());
  EXPECT_EQ(area->used_bytes(), 0u);
}

TEST(StagingArea, FullIsFullAndReleaseMakesRoom) {
  const auto area = area_of(64 * kMiB);
  {
    StagingArea::Share first(*area);
    StagingArea::Share second(*area);
    EXPECT_TRUE(first.allocate(40 * kMiB).has_value());
    EXPECT_FALSE(second.allocate(40 * kMiB).has_value());
    EXPECT_TRUE(second.allocate(24 * kMiB).has_value());
    EXPECT_FALSE(second.allocate(1).has_value());
    EXPECT_EQ(area->used_bytes(), 64 * kMiB);
  }
  EXPECT_EQ(area->used_bytes(), 0u);
  StagingArea::Share third(*area);
  EXPECT_TRUE(third.allocate(64 * kMiB).has_value());
  EXPECT_FALSE(third.allocate(65 * kMiB).has_value());
}

// Tensors of a step lie side by side: a step of many small ones wastes no chunk between them.
TEST(StagingArea, AStepFillsItsChunks) {
  const auto area = area_of(4 * kMiB);
  StagingArea::Share share(*area);
  for (int i = 0; i < 4 * 16; ++i) ASSERT_TRUE(share.allocate(kMiB / 16).has_value()) << i;
  EXPECT_FALSE(share.allocate(64).has_value());
}

TEST(StagingArea, TensorsAndChargesDoNotCrowdEachOtherOut) {
  const auto area = area_of(64 * kMiB);
  EXPECT_EQ(area->account_bytes(), 4 * kMiB);
  {
    StagingArea::Share share(*area);
    ASSERT_TRUE(share.allocate(64 * kMiB).has_value());
    EXPECT_TRUE(share.charge(4 * kMiB));
    EXPECT_FALSE(share.charge(1));
  }
  StagingArea::Share share(*area);
  EXPECT_TRUE(share.charge(4 * kMiB)) << "charges are given back, too";
}

// A job that needs little keeps to the lowest chunks, and the rest is never taken from the system.
TEST(StagingArea, WhatIsNotNeededStaysCold) {
  const auto area = area_of(256 * kMiB);
  EXPECT_EQ(area->warm_bytes(), 0u);
  for (int step = 0; step < 1000; ++step) {
    StagingArea::Share share(*area);
    ASSERT_TRUE(share.allocate(3 * kMiB).has_value());
  }
  EXPECT_LE(area->warm_bytes(), 8 * kMiB);
}

// The writer is late, and thousands of steps wait that keep a number each.
TEST(StagingArea, ManySmallStepsThatWaitTakeLittle) {
  const auto area = area_of(1024 * kMiB);
  std::vector<std::unique_ptr<StagingArea::Share>> waiting;
  for (int step = 0; step < 1000; ++step) {
    waiting.push_back(std::make_unique<StagingArea::Share>(*area));
    ASSERT_TRUE(waiting.back()->allocate(4).has_value());
  }
  EXPECT_LE(area->warm_bytes(), 64 * kMiB);
}

TEST(StagingArea, TheLowestFreeChunksAreTakenAgain) {
  const auto area = area_of(4 * kMiB);
  auto low = std::make_unique<StagingArea::Share>(*area), high = std::make_unique<StagingArea::Share>(*area);
  const auto first = low->allocate(kMiB);
  ASSERT_TRUE(first.has_value() && high->allocate(3 * kMiB).has_value());
  const std::byte* const begin = first->data();
  low.reset();
  StagingArea::Share again(*area);
  const auto found = again.allocate(kMiB);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->data(), begin);
  EXPECT_FALSE(again.allocate(64).has_value());
}

TEST(StagingArea, ReleasedOutOfOrder) {
  const auto area = area_of(16 * kMiB);
  auto first = std::make_unique<StagingArea::Share>(*area);
  StagingArea::Share second(*area);
  auto third = std::make_unique<StagingArea::Share>(*area);
  ASSERT_TRUE(first->allocate(5 * kMiB).has_value());
  const auto kept = second.allocate(5 * kMiB);
  ASSERT_TRUE(kept.has_value());
  ASSERT_TRUE(third->allocate(5 * kMiB).has_value());
  std::memset(kept->data(), 7, kept->size());
  first.reset();
  third.reset();
  StagingArea::Share fourth(*area);
  EXPECT_FALSE(fourth.allocate(11 * kMiB).has_value()) << "ten are free, but not in one piece";
  const auto low = fourth.allocate(5 * kMiB);
  ASSERT_TRUE(low.has_value());
  std::memset(low->data(), 9, low->size());
  for (const std::byte byte : *kept) ASSERT_EQ(byte, std::byte{7});
}

TEST(StagingArea, WaitingEndsWithARelease) {
  const auto area = area_of(kMiB);
  auto holder = std::make_unique<StagingArea::Share>(*area);
  ASSERT_TRUE(holder->allocate(kMiB).has_value());
  holder->hand_over();
  const std::uint64_t seen = area->release_count();
  bool released = false;
  {
    const std::jthread waiter([&] { released = area->wait_for_release(seen); });
    holder.reset();
  }
  EXPECT_TRUE(released);
}

TEST(StagingArea, WaitingIsRefusedWhenNobodyWillRelease) {
  const auto area = area_of(kMiB);
  StagingArea::Share own(*area);
  ASSERT_TRUE(own.allocate(kMiB).has_value());
  EXPECT_FALSE(area->wait_for_release(area->release_count()));
  own.hand_over();
  area->end_waiting();
  EXPECT_FALSE(area->wait_for_release(area->release_count()));
}

// A step that needs more than the first size has it, as long as the machine has memory to spare.
TEST(StagingArea, GrowsWithinItsLimitAndWithinWhatIsSpare) {
  std::uint64_t spare_bytes = 1024 * kMiB;
  const auto created =
      StagingArea::create(64 * kMiB, {.first_bytes = 16 * kMiB, .spare = [&] { return std::optional(spare_bytes); }});
  ASSERT_TRUE(created.ok());
  StagingArea& area = **created;
  {
    StagingArea::Share share(area);
    for (int i = 0; i < 6; ++i) ASSERT_TRUE(share.allocate(10 * kMiB).has_value()) << i;
    EXPECT_FALSE(share.allocate(10 * kMiB).has_value()) << "the limit";
  }
  for (int i = 0; i < StagingArea::kStepsUntilGivenBack; ++i) {
    const StagingArea::Share share(area);
    EXPECT_GE(area.warm_bytes(), 60 * kMiB) << "it may be needed again soon";
  }
  EXPECT_EQ(area.warm_bytes(), 16 * kMiB) << "it was not";
  spare_bytes = 4 * kMiB;
  StagingArea::Share share(area);
  EXPECT_TRUE(share.allocate(16 * kMiB).has_value()) << "the first size is always there";
  EXPECT_FALSE(share.allocate(8 * kMiB).has_value()) << "the training needs what is left";
}

TEST(StagingArea, WhatADeviceKnowsIsNotGivenBack) {
  const auto created = StagingArea::create(64 * kMiB, {.first_bytes = 16 * kMiB});
  ASSERT_TRUE(created.ok());
  StagingArea& area = **created;
  EXPECT_EQ(area.keep_region().size(), 64 * kMiB);
  {
    StagingArea::Share share(area);
    ASSERT_TRUE(share.allocate(40 * kMiB).has_value());
  }
  for (int i = 0; i < 2 * StagingArea::kStepsUntilGivenBack; ++i) const StagingArea::Share share(area);
  EXPECT_GE(area.warm_bytes(), 40 * kMiB);
}

TEST(StagingArea, ALimitOfOnePageWorks) {
  const auto area = area_of(1);
  StagingArea::Share share(*area);
  EXPECT_EQ(area->capacity_bytes(), 4096u);
  EXPECT_TRUE(share.allocate(4096).has_value());
}

}  // namespace
}  // namespace trainwarden::capture
