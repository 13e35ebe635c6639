#include "data/device/device_span.h"

#include <gtest/gtest.h>

#include <vector>

namespace trainwarden::device {
namespace {

constexpr Device kGpu{DeviceType::kCuda, 0};

std::vector<float> floats_from(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i);
  return values;
}

TensorView strided(const float* data, const std::vector<std::int64_t>& shape,
                   const std::vector<std::int64_t>& strides) {
  return TensorView::strided(data, DType::kFloat32, shape, strides, kGpu).value();
}

TEST(DeviceSpanTest, AContiguousTensorIsItsSpan) {
  const std::vector<float> values = floats_from(6);
  const auto span = span_of(TensorView::of(values.data(), DType::kFloat32, {2, 3}, kGpu));
  EXPECT_EQ(span->address, reinterpret_cast<std::uintptr_t>(values.data()));
  EXPECT_EQ(span->bytes, 24u);
  EXPECT_TRUE(span->dense);
}

TEST(DeviceSpanTest, APermutedTensorIsDense) {
  const std::vector<float> values = floats_from(24);
  const auto span = span_of(strided(values.data(), {2, 3, 4}, {1, 8, 2}));
  EXPECT_EQ(span->bytes, 96u);
  EXPECT_TRUE(span->dense);
}

TEST(DeviceSpanTest, SlicesAndRepeatedElementsAreNot) {
  const std::vector<float> values = floats_from(24);
  EXPECT_FALSE(span_of(strided(values.data(), {4, 2}, {3, 1}))->dense);
  EXPECT_FALSE(span_of(strided(values.data(), {4, 2}, {1, 0}))->dense);
  EXPECT_FALSE(span_of(strided(values.data(), {3, 2}, {1, 1}))->dense);
}

TEST(DeviceSpanTest, NegativeStridesBeginBelowTheFirstElement) {
  const std::vector<float> values = floats_from(8);
  const TensorView view = strided(values.data() + 7, {8}, {-1});
  const auto span = span_of(view);
  EXPECT_EQ(span->address, reinterpret_cast<std::uintptr_t>(values.data()));
  EXPECT_TRUE(span->dense);
  float packed[8];
  ASSERT_TRUE(copy_packed(view_of_copy(view, *span, values.data()), packed).ok());
  EXPECT_EQ(packed[0], 7);
  EXPECT_EQ(packed[7], 0);
}

TEST(DeviceSpanTest, ACopyOfTheSpanIsReadAsTheTensor) {
  const std::vector<float> values = floats_from(12);
  const TensorView view = strided(values.data() + 1, {3, 2}, {4, 2});
  const auto span = span_of(view);
  const std::vector<float> copy(values.begin() + 1, values.begin() + 1 + static_cast<int>(span->bytes / sizeof(float)));
  float packed[6];
  ASSERT_TRUE(copy_packed(view_of_copy(view, *span, copy.data()), packed).ok());
  EXPECT_EQ(std::vector<float>(packed, packed + 6), (std::vector<float>{1, 3, 5, 7, 9, 11}));
}

TEST(DeviceSpanTest, WhatCannotBeReadIsRefusedWithTheReason) {
  const std::vector<float> values = floats_from(64);
  EXPECT_NE(span_of(strided(values.data(), {4}, {16})).status().message().find("12 times"), std::string::npos);
  EXPECT_EQ(span_of(TensorView::of(nullptr, DType::kFloat32, {1}, kGpu)).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(span_of(TensorView::of(nullptr, DType::kFloat32, {0}, kGpu))->bytes, 0u);
}

}  // namespace
}  // namespace trainwarden::device
