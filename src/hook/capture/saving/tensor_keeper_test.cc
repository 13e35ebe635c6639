#include "hook/capture/saving/tensor_keeper.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "hook/capture/part_testing.h"
#include "hook/capture/staging/packed_strings.h"

namespace trainwarden::capture {
namespace {

class TensorKeeperTest : public OpenStepTest {
 protected:
  StepIntake intake_ = intake(WhenFull::kStatistics);
  TensorKeeper keeper_{intake_};
};

TEST_F(TensorKeeperTest, ValuesArePackedAndTheirStatisticsAreLeftToTheWriter) {
  const std::vector<float> matrix = {1, 2, 3, 4};
  const std::int64_t length = 2, stride = 2;
  const TensorView column = *TensorView::strided(matrix.data(), DType::kFloat32, {&length, 1}, {&stride, 1});
  keeper_.keep(entry(), kValuesBit | kStatisticsBit, column);
  const auto step = step_.end({});
  ASSERT_EQ(step->tensors.size(), 1u);
  EXPECT_TRUE(step->statistics.empty());
  EXPECT_EQ(step->tensors[0].statistics, kStatisticsBit);
  const std::vector<float> expected = {1, 3};
  ASSERT_EQ(step->tensors[0].data.size(), sizeof(float) * 2);
  EXPECT_EQ(std::memcmp(step->tensors[0].data.data(), expected.data(), sizeof(float) * 2), 0);
}

TEST_F(TensorKeeperTest, StatisticsTakeThePlaceOfValuesThatFindNoRoom) {
  const auto all = step_.claim(staging_->capacity_bytes());
  ASSERT_TRUE(all.has_value());
  const std::vector<float> values = {1, 2, 6};
  keeper_.keep(entry(), kValuesBit, view_of(values));
  step_.look_into([](StagedStep& step) {
    EXPECT_TRUE(step.tensors.empty());
    ASSERT_EQ(step.statistics.size(), 1u);
    EXPECT_EQ(step.statistics[0].statistics.mean(), 3);
    EXPECT_EQ(step.losses.count(), 1u) << "the values are lost all the same";
  });
}

TEST_F(TensorKeeperTest, TheShapeAloneNeedsNoElements) {
  TensorView view = TensorView::of(nullptr, DType::kInt64, Shape({3, 5}));
  keeper_.keep(entry(), kShapeBit, view);
  const auto step = step_.end({});
  ASSERT_EQ(step->statistics.size(), 1u);
  EXPECT_TRUE(step->statistics[0].shape_only);
  EXPECT_EQ(step->statistics[0].shape, Shape({3, 5}));
}

TEST_F(TensorKeeperTest, StringsAreKeptWholeOrAsTheirShape) {
  const std::vector<std::string_view> strings = {"a", "", "long"};
  keeper_.keep_strings(entry("whole"), kValuesBit | kStatisticsBit, Shape({3}), strings);
  keeper_.keep_strings(entry("shape"), kStatisticsBit, Shape({3}), strings);
  const auto step = step_.end({});
  ASSERT_EQ(step->tensors.size(), 1u);
  EXPECT_EQ(step->tensors[0].data.size(), packed_string_bytes(strings));
  EXPECT_EQ(step->tensors[0].statistics, 0u);
  ASSERT_EQ(step->statistics.size(), 1u);
  EXPECT_EQ(step->statistics[0].id, entry("shape").id);
  EXPECT_TRUE(step->statistics[0].shape_only);
}

}  // namespace
}  // namespace trainwarden::capture
