#include "hook/capture/budget/space_keeper.h"

#include <vector>

#include <gtest/gtest.h>

#include "core/base/log.h"

namespace trainwarden::capture {
namespace {

constexpr std::uint64_t kMega = std::uint64_t{1} << 20;

class SpaceKeeperTest : public testing::Test {
 protected:
  SpaceKeeperTest() {
    set_log_sink([](LogLevel, std::string_view) {});
  }
  ~SpaceKeeperTest() override { set_log_sink(nullptr); }

  SpaceKeeper keeper(const SpaceLimits& limits) {
    return SpaceKeeper(
        limits, [this] { return look_; }, clock_);
  }
  // Two tensors of 400 bytes, statistics of a third, a scalar.
  std::unique_ptr<StagedStep> step() {
    auto step = std::make_unique<StagedStep>(*staging_);
    step->id.global_step = 7;
    for (std::uint32_t id = 1; id <= 2; ++id) {
      step->tensors.push_back({id, DType::kFloat32, {100}, as_bytes(std::span<const float>(values_)), 0});
    }
    step->statistics.push_back({.id = 3});
    step->scalars.push_back({4, 0.5});
    return step;
  }
  static ByteSpan as_bytes(std::span<const float> values) {
    return {reinterpret_cast<const std::byte*>(values.data()), values.size_bytes()};
  }
  // What is kept of the step: tensors, statistics, scalars.
  std::vector<std::size_t> kept(SpaceKeeper& keeper, std::uint64_t written = 0) {
    const auto one = step();
    may_write_ = keeper.fit(*one, written, losses_);
    row_losses_ = one->losses.rows();
    return {one->tensors.size(), one->statistics.size(), one->scalars.size()};
  }
  using Kept = std::vector<std::size_t>;

  const std::vector<float> values_ = std::vector<float>(100, 1.5f);
  std::unique_ptr<StagingArea> staging_ = *StagingArea::create(std::size_t{1} << 20);
  FakeClock clock_;
  SpaceKeeper::Look look_;
  SharedLossTally losses_;
  bool may_write_ = false;
  std::vector<journal::LossRow> row_losses_;
};

TEST_F(SpaceKeeperTest, WithoutLimitsAllIsKept) {
  SpaceKeeper one = keeper({});
  look_ = {1'000 * kMega, 0};
  EXPECT_EQ(kept(one), (Kept{2, 1, 1}));
  EXPECT_TRUE(losses_.losses().empty());
}

TEST_F(SpaceKeeperTest, AsTheRunGrowsLessIsKept) {
  SpaceKeeper one = keeper({100 * kMega, 0});
  const std::vector<std::pair<std::uint64_t, Kept>> stages = {{0, {2, 1, 1}},  {79, {2, 1, 1}}, {80, {0, 3, 1}},
                                                              {94, {0, 3, 1}}, {96, {0, 0, 1}}, {99, {0, 0, 1}}};
  for (const auto& [mib, expected] : stages) {
    look_.run_bytes = mib * kMega;
    clock_.advance_ns(2'000'000'000);
    EXPECT_EQ(kept(one), expected) << mib;
    EXPECT_TRUE(may_write_);
  }
  look_.run_bytes = 101 * kMega;
  clock_.advance_ns(2'000'000'000);
  EXPECT_EQ(kept(one), (Kept{0, 0, 0}));
  EXPECT_FALSE(may_write_);
  ASSERT_EQ(row_losses_.size(), 1U);
  EXPECT_EQ(row_losses_[0].cause, "run_bytes");
  EXPECT_EQ(row_losses_[0].count, 4U);
  ASSERT_EQ(losses_.losses().size(), 1U);
  EXPECT_EQ(losses_.losses()[0].cause, LossCause::kRunBytes);
  EXPECT_EQ(losses_.losses()[0].bytes, 5U * 800);
}

TEST_F(SpaceKeeperTest, WhatThisWorkerWroteSinceItLookedCounts) {
  SpaceKeeper one = keeper({10 * kMega, 0});
  EXPECT_EQ(kept(one, 0), (Kept{2, 1, 1}));
  look_.run_bytes = 9 * kMega;  // is not looked at again so soon
  EXPECT_EQ(kept(one, 1000), (Kept{2, 1, 1}));
  EXPECT_EQ(kept(one, 2 * kMega), (Kept{0, 3, 1}));
}

TEST_F(SpaceKeeperTest, TheDiskKeepsItsReserveAndIsUsedAgainWhenItHasRoom) {
  SpaceKeeper one = keeper({0, 100 * kMega});
  look_.free_bytes = 200 * kMega;
  EXPECT_EQ(kept(one), (Kept{2, 1, 1}));
  look_.free_bytes = 100 * kMega;
  clock_.advance_ns(2'000'000'000);
  EXPECT_EQ(kept(one), (Kept{0, 3, 1}));
  ASSERT_EQ(row_losses_.size(), 1U);
  EXPECT_EQ(row_losses_[0].cause, "disk_reserve");
  EXPECT_EQ(row_losses_[0].count, 2U);
  EXPECT_EQ(row_losses_[0].bytes, 800U);
  look_.free_bytes = 10 * kMega;
  clock_.advance_ns(2'000'000'000);
  EXPECT_EQ(kept(one), (Kept{0, 0, 1}));
  EXPECT_TRUE(may_write_);
  look_.free_bytes = 0;
  clock_.advance_ns(2'000'000'000);
  EXPECT_EQ(kept(one), (Kept{0, 0, 1})) << "scalars are tried to the end";
  look_.free_bytes = 300 * kMega;
  clock_.advance_ns(2'000'000'000);
  EXPECT_EQ(kept(one), (Kept{2, 1, 1}));
}

TEST_F(SpaceKeeperTest, ADiskThatCannotBeSeenIsTakenForLarge) {
  SpaceKeeper one = keeper({0, 100 * kMega});
  EXPECT_EQ(kept(one), (Kept{2, 1, 1}));
}

TEST_F(SpaceKeeperTest, ADefaultIsATwentiethOfASmallDiskAtMost) {
  EXPECT_EQ(kept_free(1024 * kMega, true, {0, 200 * kMega}), 10 * kMega);
  EXPECT_EQ(kept_free(1024 * kMega, false, {0, 200 * kMega}), 1024 * kMega);
  EXPECT_EQ(kept_free(1024 * kMega, true, {0, 1'000'000 * kMega}), 1024 * kMega);
}

}  // namespace
}  // namespace trainwarden::capture
