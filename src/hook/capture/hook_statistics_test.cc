// Statistics that the program has computed itself: kept where the tensor is wanted, marked, and counted when they are
// bad.
#include <memory>

#include <gtest/gtest.h>

#include "hook/capture/capture_testing.h"

namespace trainwarden::capture {
namespace {

GivenStatistics of_elements(std::int64_t count, double largest) {
  GivenStatistics given;
  given.shape = Shape{count};
  given.min = -largest;
  given.max = largest;
  given.square_sum = given.abs_sum = largest;
  return given;
}

class HookStatistics : public testing::Test {
 protected:
  std::unique_ptr<Hook> open(HookOptions options) { return open_hook_on(*storage_, std::move(options)); }
  ReadRun read() { return read_run(*storage_); }

  const std::unique_ptr<storage::MemoryStorage> storage_ = storage::create_memory_storage();
};

TEST_F(HookStatistics, AreKeptWhereTheTensorIsWantedAndMarked) {
  HookOptions options = keep_all_of("^kept");
  options.save = SavePolicy::every(2);
  const auto hook = open(options);
  const TensorId kept = hook->declare("kept/by/id");
  const std::vector<float> exact = {1, 2};
  for (int step = 0; step < 3; ++step) {
    hook->save_statistics(kept, of_elements(8, step));
    hook->save_statistics("kept/by/name", of_elements(3, 1));
    hook->save_statistics("unwanted", of_elements(3, 1));
    hook->save_tensor("kept/exact", view_of(exact));
    hook->end_step();
  }
  ASSERT_TRUE(hook->close().ok());
  EXPECT_TRUE(hook->report().losses.empty());
  const ReadRun run = read();
  ASSERT_EQ(run.steps.size(), 2u);
  const journal::StatisticsRow& row = run.steps[1].statistics.at("kept/by/id");
  EXPECT_EQ(row.shape, Shape{8});
  EXPECT_EQ(row.dtype, DType::kFloat32);
  EXPECT_EQ(row.statistics, *approximate_statistics(of_elements(8, 2)));
  EXPECT_TRUE(row.statistics.approximate);
  EXPECT_EQ(run.steps[1].statistics.at("kept/by/name").statistics.count, 3u);
  EXPECT_FALSE(run.steps[1].statistics.contains("unwanted"));
  EXPECT_TRUE(run.steps[1].values.contains("kept/exact"));
}

TEST_F(HookStatistics, NumbersThatCannotBeAreCountedAndNothingIsKept) {
  const auto hook = open(keep_all_of("relu"));
  GivenStatistics bad = of_elements(3, 1);
  bad.nan_count = 4;
  hook->save_statistics("relu", bad);
  hook->save_statistics(TensorId{77}, of_elements(3, 1));
  hook->end_step();
  ASSERT_TRUE(hook->close().ok());
  hook->save_statistics("relu", of_elements(3, 1));
  EXPECT_EQ(lost(hook->report(), LossCause::kUnsupported), 2u);
  EXPECT_EQ(lost(hook->report(), LossCause::kHookOff), 1u);
  ASSERT_FALSE(hook->report().losses.empty());
  EXPECT_NE(hook->report().losses[0].first_message.find("relu: statistics: 4 NaN"), std::string::npos)
      << hook->report().losses[0].first_message;
  for (const ReadStep& step : read().steps) EXPECT_TRUE(step.statistics.empty());
}

}  // namespace
}  // namespace trainwarden::capture
