#include "data/tensor/float_conversion.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "data/tensor/element.h"
#include "data/tensor/reference_statistics.h"

namespace trainwarden {
namespace {

// Every pattern of every type, as many times shifted as there are lanes, on every CPU.
template <class T, class Bits>
void expect_like_scalar(DType dtype) {
  std::vector<T> components;
  for (std::uint32_t bits = 0; bits <= std::numeric_limits<Bits>::max(); ++bits) {
    components.push_back(std::bit_cast<T>(static_cast<Bits>(bits)));
  }
  for_each_target([&] {
    std::vector<float> floats(components.size());
    convert_to_floats(dtype, components.data(), components.size(), floats.data());
    for (std::size_t i = 0; i < components.size(); ++i) {
      float expected = 0;
      if constexpr (std::is_arithmetic_v<T>) {
        expected = static_cast<float>(components[i]);
      } else {
        expected = to_float(components[i]);
      }
      ASSERT_EQ(std::bit_cast<std::uint32_t>(floats[i]), std::bit_cast<std::uint32_t>(expected)) << "pattern " << i;
    }
  });
}

TEST(FloatConversion, AllPatternsOfAllTypes) {
  expect_like_scalar<Bool8, std::uint8_t>(DType::kBool);
  expect_like_scalar<std::int8_t, std::uint8_t>(DType::kInt8);
  expect_like_scalar<std::uint8_t, std::uint8_t>(DType::kUInt8);
  expect_like_scalar<std::int16_t, std::uint16_t>(DType::kInt16);
  expect_like_scalar<std::uint16_t, std::uint16_t>(DType::kUInt16);
  expect_like_scalar<Float16, std::uint16_t>(DType::kFloat16);
  expect_like_scalar<BFloat16, std::uint16_t>(DType::kBFloat16);
  expect_like_scalar<Float8E4M3, std::uint8_t>(DType::kFloat8E4M3);
  expect_like_scalar<Float8E5M2, std::uint8_t>(DType::kFloat8E5M2);
}

TEST(FloatConversion, KnowsWhichTypesAreExact) {
  EXPECT_TRUE(kIsExactInFloat<float>);
  EXPECT_TRUE(kIsExactInFloat<Float16>);
  EXPECT_TRUE(kIsExactInFloat<std::uint16_t>);
  EXPECT_FALSE(kIsExactInFloat<std::int32_t>);
  EXPECT_FALSE(kIsExactInFloat<double>);
}

}  // namespace
}  // namespace trainwarden
