#include "read/upkeep/value_difference.h"

#include <cmath>
#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include "trainwarden/given_statistics.h"

namespace trainwarden::upkeep {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

template <class T>
TensorValue value_of(DType dtype, const std::vector<T>& elements, std::size_t per_element = 1) {
  TensorValue value;
  value.dtype = dtype;
  value.shape = Shape{static_cast<std::int64_t>(elements.size() / per_element)};
  value.data.resize(elements.size() * sizeof(T));
  std::memcpy(value.data.data(), elements.data(), value.data.size());
  return value;
}

TensorValue floats(const std::vector<float>& elements) {
  return value_of(DType::kFloat32, elements);
}
TensorValue doubles(const std::vector<double>& elements) {
  return value_of(DType::kFloat64, elements);
}

TEST(ValueDifference, BitForBitWithoutATolerance) {
  EXPECT_FALSE(compare_values(floats({1, 2}), floats({1, 2}), {}).differs());
  const float next = std::nextafter(2.0f, 3.0f);
  const ValueDifference one = compare_values(floats({1, 2, 3}), floats({1, next, 3}), {});
  EXPECT_EQ(one.elements, 3u);
  EXPECT_EQ(one.differing, 1u);
  EXPECT_EQ(one.first, 1);
  EXPECT_EQ(one.max_ulp, 1u);
  EXPECT_DOUBLE_EQ(one.max_abs, static_cast<double>(next) - 2);
  // The same NaN is the same bits; 0 and -0 are not, although they are no distance apart.
  const auto nan = static_cast<float>(kNan);
  EXPECT_FALSE(compare_values(floats({nan}), floats({nan}), {}).differs());
  const ValueDifference zeros = compare_values(floats({0.0f}), floats({-0.0f}), {});
  EXPECT_TRUE(zeros.differs());
  EXPECT_EQ(zeros.max_abs, 0);
  EXPECT_EQ(zeros.max_rel, 0);
}

// Source: the definition of numpy.isclose.
TEST(ValueDifference, AToleranceIsThatOfTheField) {
  const Tolerance tolerance{.rtol = 1e-2, .atol = 1e-3};
  EXPECT_FALSE(compare_values(doubles({100.9}), doubles({100}), tolerance).differs());
  EXPECT_TRUE(compare_values(doubles({101.1}), doubles({100}), tolerance).differs());
  EXPECT_FALSE(compare_values(doubles({0.0009}), doubles({0}), tolerance).differs());
  // rtol is relative to the second.
  EXPECT_TRUE(compare_values(doubles({100}), doubles({99.0}), {.rtol = 0.01}).differs());
  EXPECT_FALSE(compare_values(doubles({99.0}), doubles({100}), {.rtol = 0.01}).differs());
  // Infinities and NaN.
  EXPECT_FALSE(compare_values(doubles({kInf, -kInf}), doubles({kInf, -kInf}), tolerance).differs());
  EXPECT_TRUE(compare_values(doubles({kInf}), doubles({-kInf}), tolerance).differs());
  EXPECT_TRUE(compare_values(doubles({1}), doubles({kInf}), tolerance).differs());
  EXPECT_TRUE(compare_values(doubles({kNan}), doubles({kNan}), tolerance).differs());
  EXPECT_TRUE(compare_values(doubles({kNan}), doubles({1}), {.rtol = 1, .equal_nan = true}).differs());
  EXPECT_FALSE(compare_values(doubles({kNan}), doubles({kNan}), {.rtol = 1, .equal_nan = true}).differs());
  EXPECT_FALSE(compare_values(floats({0.0f}), floats({-0.0f}), tolerance).differs());
}

TEST(ValueDifference, HowFarItIsIsOverTheElementsThatDiffer) {
  const ValueDifference found = compare_values(doubles({1, 5, 100, 0}), doubles({1, 4, 110, 2}), {.rtol = 0.1});
  EXPECT_EQ(found.differing, 2u);  // 5 and 4, 0 and 2; 100 is within a tenth of 110
  EXPECT_EQ(found.first, 1);
  EXPECT_EQ(found.max_abs, 2);
  EXPECT_EQ(found.max_rel, 1);
  EXPECT_EQ(found.a, 0);
  EXPECT_EQ(found.b, 2);
  EXPECT_EQ(compare_values(doubles({1}), doubles({0}), {}).max_rel, kInf);
  EXPECT_EQ(compare_values(doubles({kNan}), doubles({0}), {}).max_abs, kInf);
}

TEST(ValueDifference, UnitsInTheLastPlaceCountTheNumbersBetween) {
  const float tiny = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(compare_values(floats({tiny}), floats({-tiny}), {}).max_ulp, 2u);
  EXPECT_EQ(compare_values(doubles({1}), doubles({2}), {}).max_ulp, std::uint64_t{1} << 52);
  EXPECT_EQ(
      compare_values(doubles({-std::numeric_limits<double>::max()}), doubles({std::numeric_limits<double>::max()}), {})
          .max_ulp,
      2 * 0x7fefffffffffffffull);
  // float16: 1.0 and the next number.
  EXPECT_EQ(compare_values(value_of<std::uint16_t>(DType::kFloat16, {0x3c00}),
                           value_of<std::uint16_t>(DType::kFloat16, {0x3c01}), {})
                .max_ulp,
            1u);
}

TEST(ValueDifference, IntegersOf64BitsAreComparedWhole) {
  const std::int64_t large = (std::int64_t{1} << 53) + 1;
  const auto a = value_of<std::int64_t>(DType::kInt64, {large});
  const auto b = value_of<std::int64_t>(DType::kInt64, {large - 1});
  EXPECT_EQ(compare_values(a, b, {}).max_abs, 1);
  EXPECT_TRUE(compare_values(a, b, {.atol = 0.5}).differs());
  EXPECT_FALSE(compare_values(a, b, {.atol = 1}).differs());
  const auto lowest = value_of<std::int64_t>(DType::kInt64, {std::numeric_limits<std::int64_t>::min()});
  const auto highest = value_of<std::int64_t>(DType::kInt64, {std::numeric_limits<std::int64_t>::max()});
  EXPECT_EQ(compare_values(lowest, highest, {}).max_abs, std::ldexp(1.0, 64));
}

TEST(ValueDifference, ComplexNumbersAreAsFarApartAsInThePlane) {
  const auto a = value_of<float>(DType::kComplex64, {3, 4, 1, 1}, 2);
  const auto b = value_of<float>(DType::kComplex64, {0, 0, 1, 1}, 2);
  const ValueDifference found = compare_values(a, b, {});
  EXPECT_EQ(found.elements, 2u);
  EXPECT_EQ(found.differing, 1u);
  EXPECT_EQ(found.max_abs, 5);
  EXPECT_TRUE(compare_values(a, b, {.atol = 4.9}).differs());
  EXPECT_FALSE(compare_values(a, b, {.atol = 5}).differs());
}

TEST(ValueDifference, OtherShapesAndDtypesAreNamed) {
  EXPECT_EQ(compare_values(floats({1}), floats({1, 2}), {}).what, "shape [1] and [2]");
  EXPECT_EQ(compare_values(floats({1}), doubles({1}), {}).what, "dtype float32 and float64");
  EXPECT_FALSE(compare_values(floats({1}), doubles({1}), {.rtol = 1e-6}).differs());
  EXPECT_TRUE(compare_values(floats({1}), doubles({1.1}), {.rtol = 1e-6}).differs());
  TensorValue words;
  words.dtype = DType::kString;
  words.shape = Shape{2};
  words.strings = {"a", "b"};
  TensorValue others = words;
  EXPECT_FALSE(compare_values(words, others, {}).differs());
  others.strings[1] = "c";
  EXPECT_EQ(compare_values(words, others, {}).first, 1);
  EXPECT_TRUE(compare_values(words, floats({1, 2}), {.rtol = 1}).differs());
}

TEST(ValueDifference, BlocksAreJoined) {
  std::vector<float> left(200'000, 1.0f);
  std::vector<float> right = left;
  right[150'000] = 2.0f;
  const ValueDifference found = compare_values(floats(left), floats(right), {});
  EXPECT_EQ(found.elements, left.size());
  EXPECT_EQ(found.first, 150'000);
  EXPECT_EQ(found.differing, 1u);
}

TEST(ValueDifference, StatisticsDifferWhereANumberDoes) {
  const auto statistics = [](const TensorValue& value) {
    return *compute_statistics(value.view(), {.histogram = true, .hash = true});
  };
  const Statistics a = statistics(floats({1, 2, 3}));
  EXPECT_FALSE(compare_statistics(a, a, {}).differs());
  const ValueDifference larger = compare_statistics(a, statistics(floats({1, 2, 4})), {});
  EXPECT_EQ(larger.what, "max");
  EXPECT_EQ(larger.max_abs, 1);
  EXPECT_EQ(compare_statistics(a, statistics(floats({1, 2})), {}).what, "count 3 and 2");
  // Another order: only the hash knows, and a tolerance does not ask it.
  const Statistics turned = statistics(floats({3, 2, 1}));
  EXPECT_EQ(compare_statistics(a, turned, {}).what, "hash");
  EXPECT_FALSE(compare_statistics(a, turned, {.rtol = 1e-9}).differs());
  const Statistics nothing = statistics(floats({static_cast<float>(kNan)}));
  EXPECT_FALSE(compare_statistics(nothing, nothing, {.rtol = 1e-9}).differs());
}

Statistics exact_statistics(const std::vector<float>& elements) {
  return *compute_statistics(floats(elements).view());
}

// As a sum in float32 may be.
Statistics rounded_statistics(const std::vector<float>& elements, double error) {
  const Statistics exact = exact_statistics(elements);
  GivenStatistics given;
  given.shape = Shape{static_cast<std::int64_t>(elements.size())};
  given.nan_count = exact.nan_count;
  given.zero_count = exact.zero_count;
  given.min = exact.min;
  given.max = exact.max;
  given.abs_min = exact.abs_min;
  given.sum = exact.sum.to_double() + error * exact.abs_sum.to_double();
  given.abs_sum = exact.abs_sum.to_double() * (1 + error);
  given.square_sum = exact.square_sum.to_double() * (1 + error);
  return *approximate_statistics(given);
}

TEST(ValueDifference, RoundingIsNoDifferenceWhereStatisticsAreApproximate) {
  const std::vector<float> elements = {1000, -1000, 0.25F, 3};  // whose mean is small beside what was added
  for (const double error : {0.0, 1e-6, 5e-4}) {
    for (const bool approximate_first : {true, false}) {
      const Statistics exact = exact_statistics(elements);
      const Statistics rounded = rounded_statistics(elements, error);
      const ValueDifference difference =
          compare_statistics(approximate_first ? rounded : exact, approximate_first ? exact : rounded, {});
      EXPECT_FALSE(difference.differs()) << error << " " << difference.what;
      EXPECT_TRUE(difference.approximate);
    }
  }
  EXPECT_FALSE(compare_statistics(exact_statistics(elements), exact_statistics(elements), {}).approximate);
}

TEST(ValueDifference, WhatIsMoreThanRoundingDiffersAlsoWhereStatisticsAreApproximate) {
  const Statistics rounded = rounded_statistics({1, 2, 3, 4}, 1e-6);
  const std::vector<std::pair<const char*, std::vector<float>>> others = {
      {"count", {1, 2, 3}},
      {"nan_count", {1, 2, 4, static_cast<float>(kNan)}},
      {"positive_inf_count", {1, 2, 4, static_cast<float>(kInf)}},
      {"min", {1.01F, 2, 3, 4}},
      {"max", {1, 2, 3, 4.01F}},
      {"mean", {1, 2, 3.02F, 4}}};
  for (const auto& [what, elements] : others) {
    const ValueDifference difference = compare_statistics(rounded, exact_statistics(elements), {});
    EXPECT_TRUE(difference.differs()) << what;
    EXPECT_EQ(difference.what.substr(0, difference.what.find(' ')), what);
    EXPECT_TRUE(difference.approximate);
  }
  EXPECT_FALSE(compare_statistics(rounded, exact_statistics({1, 2, 3.02F, 4}), {.rtol = 0.02}).differs());
  EXPECT_FALSE(compare_statistics(rounded_statistics({static_cast<float>(kNan)}, 0),
                                  exact_statistics({static_cast<float>(kNan)}), {})
                   .differs());
}

}  // namespace
}  // namespace trainwarden::upkeep
