#include "trainwarden/tensor_value.h"

#include <gtest/gtest.h>

#include <complex>
#include <cstring>

#include "data/tensor/half.h"

namespace trainwarden {
namespace {

template <class T>
TensorValue value_of(DType dtype, const std::vector<T>& elements) {
  TensorValue value;
  value.dtype = dtype;
  value.shape = {static_cast<std::int64_t>(elements.size())};
  value.data.resize(elements.size() * sizeof(T));
  std::memcpy(value.data.data(), elements.data(), value.data.size());
  return value;
}

using Doubles = std::vector<double>;

TEST(TensorValue, ConvertsEveryDtype) {
  EXPECT_EQ(value_of<std::uint8_t>(DType::kBool, {0, 1, 7}).to_doubles(), (Doubles{0, 1, 1}));
  EXPECT_EQ(value_of<std::int8_t>(DType::kInt8, {-128, 127}).to_doubles(), (Doubles{-128, 127}));
  EXPECT_EQ(value_of<std::int16_t>(DType::kInt16, {-32768}).to_doubles(), (Doubles{-32768}));
  EXPECT_EQ(value_of<std::int32_t>(DType::kInt32, {-2147483647}).to_doubles(), (Doubles{-2147483647}));
  EXPECT_EQ(value_of<std::int64_t>(DType::kInt64, {-1, 1ll << 53}).to_doubles(), (Doubles{-1, 9007199254740992.0}));
  EXPECT_EQ(value_of<std::uint8_t>(DType::kUInt8, {255}).to_doubles(), (Doubles{255}));
  EXPECT_EQ(value_of<std::uint16_t>(DType::kUInt16, {65535}).to_doubles(), (Doubles{65535}));
  EXPECT_EQ(value_of<std::uint32_t>(DType::kUInt32, {4294967295u}).to_doubles(), (Doubles{4294967295.0}));
  EXPECT_EQ(value_of<std::uint64_t>(DType::kUInt64, {~0ull}).to_doubles(), (Doubles{18446744073709551616.0}));
  EXPECT_EQ(value_of<std::uint16_t>(DType::kFloat16, {0x3c00, 0x0001}).to_doubles(), (Doubles{1, 0x1p-24}));
  EXPECT_EQ(value_of<std::uint16_t>(DType::kBFloat16, {0xc000}).to_doubles(), (Doubles{-2}));
  EXPECT_EQ(value_of<float>(DType::kFloat32, {0.1f}).to_doubles(), (Doubles{0.1f}));
  EXPECT_EQ(value_of<double>(DType::kFloat64, {0.1}).to_doubles(), (Doubles{0.1}));
  EXPECT_EQ(value_of<std::uint8_t>(DType::kFloat8E4M3, {0x7e}).to_doubles(), (Doubles{448}));
  EXPECT_EQ(value_of<std::uint8_t>(DType::kFloat8E5M2, {0x3c}).to_doubles(), (Doubles{1}));
  EXPECT_EQ(value_of<std::complex<float>>(DType::kComplex64, {{1, 2}, {3, 4}}).to_doubles(), (Doubles{1, 3}));
  EXPECT_EQ(value_of<std::complex<double>>(DType::kComplex128, {{5, 6}}).to_doubles(), (Doubles{5}));
}

TEST(TensorValue, StringsHaveNoNumbers) {
  TensorValue value;
  value.dtype = DType::kString;
  value.shape = {2};
  value.strings = {"a", "b"};
  EXPECT_TRUE(value.to_doubles().empty());
}

TEST(TensorValue, ViewShowsTheData) {
  const TensorValue value = value_of<float>(DType::kFloat32, {1, 2, 3});
  const TensorView view = value.view();
  EXPECT_EQ(view.data, value.data.data());
  EXPECT_EQ(view.shape, (Shape{3}));
  EXPECT_TRUE(view.contiguous);
}

}  // namespace
}  // namespace trainwarden
