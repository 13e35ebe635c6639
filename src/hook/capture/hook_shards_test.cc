// Tensors that are saved part by part: put together, or merged, as if they had been saved whole.
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hook/capture/capture_testing.h"

namespace trainwarden::capture {
namespace {

using Index = std::vector<std::int64_t>;

class HookShards : public testing::Test {
 protected:
  HookShards() {
    for (std::size_t i = 0; i < whole_.size(); ++i) whole_[i] = std::ldexp(1.0F, static_cast<int>(i * 7) % 90) - 0.3F;
    whole_[5] = std::numeric_limits<float>::quiet_NaN();
  }

  std::unique_ptr<Hook> open(KeepForm keep) {
    HookOptions options = keep_all_of("w");
    options.keep = keep;
    return open_hook_on(*storage_, std::move(options));
  }
  ReadRun read() { return read_run(*storage_); }

  // Of columns [from, to).
  void save_columns(Hook& hook, std::int64_t from, std::int64_t to, int replica = 0, const char* name = "w") {
    const Index sizes = {kRows, to - from}, strides = {kColumns, 1}, offsets = {0, from};
    const TensorView part = *TensorView::strided(whole_.data() + from, DType::kFloat32, sizes, strides);
    hook.save_shard(hook.declare(name), part, Shape{kRows, kColumns}, offsets, replica);
  }
  TensorView whole() const { return TensorView::of(whole_.data(), DType::kFloat32, Shape{kRows, kColumns}); }

  static constexpr std::int64_t kRows = 5, kColumns = 8;
  std::vector<float> whole_ = std::vector<float>(kRows * kColumns);
  const std::unique_ptr<storage::MemoryStorage> storage_ = storage::create_memory_storage();
};

TEST_F(HookShards, ValuesArePutTogether) {
  const auto hook = open(KeepForm{.values = true, .statistics = true, .hash = true});
  save_columns(*hook, 3, 8);
  save_columns(*hook, 0, 3);
  hook->save_tensor("w_as_it_is", whole());
  hook->end_step();
  ASSERT_TRUE(hook->close().ok());
  const ReadStep step = read().steps.at(0);
  EXPECT_EQ(step.values.at("w").data, step.values.at("w_as_it_is").data);
  EXPECT_EQ(step.values.at("w").shape, (Shape{kRows, kColumns}));
  EXPECT_EQ(step.statistics.at("w").statistics, step.statistics.at("w_as_it_is").statistics) << "with the hash";
}

TEST_F(HookShards, StatisticsAreMergedExactly) {
  const auto hook = open(KeepForm{.values = false, .statistics = true, .histogram = true, .hash = true});
  for (const std::int64_t from : {6, 0, 4, 2}) save_columns(*hook, from, from + 2);
  hook->end_step();
  ASSERT_TRUE(hook->close().ok());
  const journal::StatisticsRow row = read().steps.at(0).statistics.at("w");
  EXPECT_EQ(row.shape, (Shape{kRows, kColumns}));
  EXPECT_EQ(row.statistics, *compute_statistics(whole(), {.histogram = true})) << "all but the hash";
  EXPECT_EQ(row.statistics.nan_count, 1u);
  EXPECT_EQ(hook->report().statistics, 1u) << "one row, not one for each part";
}

TEST_F(HookShards, ReplicasAreSavedOnce) {
  const auto hook = open(KeepForm{.values = false, .statistics = true});
  for (const int replica : {1, 0, 2}) {
    save_columns(*hook, 0, 4, replica);
    save_columns(*hook, 0, 4, replica);  // the same part under the same number is a copy, too
    save_columns(*hook, 4, 8, replica);
  }
  hook->end_step();
  ASSERT_TRUE(hook->close().ok());
  const ReadStep step = read().steps.at(0);
  EXPECT_EQ(step.statistics.size(), 1u);
  EXPECT_EQ(step.statistics.at("w").statistics.count, static_cast<std::uint64_t>(kRows * kColumns));
  EXPECT_TRUE(hook->report().losses.empty());
}

TEST_F(HookShards, OneOfWhichPartsAreMissingIsLostWithItsStep) {
  const auto hook = open(KeepForm{.values = true});
  save_columns(*hook, 0, 4);
  EXPECT_EQ(hook->end_step().global_step, 0);  // and does not wait for the rest
  save_columns(*hook, 4, 8);                   // is of the next step
  hook->set_mode(Mode::kEval);
  save_columns(*hook, 0, 4);
  save_columns(*hook, 4, 8);
  hook->end_step();
  save_columns(*hook, 4, 8);
  ASSERT_TRUE(hook->close().ok());
  EXPECT_EQ(lost(hook->report(), LossCause::kUnsupported), 3u);
  EXPECT_NE(hook->report().losses[0].first_message.find("w: 20 of its 40 elements came, in 1 parts"), std::string::npos)
      << hook->report().losses[0].first_message;
  int kept = 0;
  for (const ReadStep& step : read().steps) {
    if (!step.values.contains("w")) continue;
    ++kept;
    EXPECT_EQ(step.entry.mode, Mode::kEval);
  }
  EXPECT_EQ(kept, 1);
}

TEST_F(HookShards, PartsThatDoNotGoTogetherAreCountedOnce) {
  const auto hook = open(KeepForm{.values = false, .statistics = true});
  save_columns(*hook, 0, 5);
  save_columns(*hook, 4, 8);  // overlaps
  save_columns(*hook, 5, 8);
  hook->end_step();
  const TensorId id = hook->declare("w");
  const Index beyond = {4, 0};
  hook->save_shard(id, whole(), Shape{kRows, kColumns}, beyond);
  hook->end_step();
  ASSERT_TRUE(hook->close().ok());
  EXPECT_EQ(lost(hook->report(), LossCause::kUnsupported), 2u);
  for (const ReadStep& step : read().steps) EXPECT_TRUE(step.statistics.empty());
}

TEST_F(HookShards, StatisticsTakeThePlaceOfValuesWithoutRoom) {
  HookOptions options = keep_all_of("w");
  options.staging_bytes = std::size_t{1} << 20;
  options.when_full = WhenFull::kStatistics;
  const auto hook = open_hook_on(*storage_, std::move(options));
  const std::vector<float> half(1 << 18, 1.5F);
  const Shape shape{2, 1 << 18};
  const Shape part_shape{1, 1 << 18};
  for (const std::int64_t row : {0, 1}) {
    const Index offsets = {row, 0};
    hook->save_shard(hook->declare("w"), TensorView::of(half.data(), DType::kFloat32, part_shape), shape, offsets);
  }
  hook->end_step();
  ASSERT_TRUE(hook->close().ok());
  EXPECT_EQ(lost(hook->report(), LossCause::kTooLarge), 1u);
  const ReadStep step = read().steps.at(0);
  EXPECT_EQ(step.statistics.at("w").statistics.mean(), 1.5);
  EXPECT_EQ(step.statistics.at("w").statistics.count, std::uint64_t{1} << 19);
}

}  // namespace
}  // namespace trainwarden::capture
