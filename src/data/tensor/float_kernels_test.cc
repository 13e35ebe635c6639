#include "data/tensor/float_kernels.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "data/tensor/reference_statistics.h"

namespace trainwarden {
namespace {

constexpr float kLargest = std::numeric_limits<float>::max();
constexpr float kSmallest = std::numeric_limits<float>::denorm_min();

// Values of either sign with exponents from `bottom` to `top`.
std::vector<float> random_values(std::size_t count, int bottom, int top, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (float& value : values) {
    const float fraction = 1.0f + static_cast<float>(random() >> 9) * 0x1p-23f;
    value = std::ldexp(fraction, std::uniform_int_distribution<int>(bottom, top)(random));
    if (random() % 2 == 0) value = -value;
  }
  return values;
}

ExactSum exact(std::initializer_list<std::pair<std::int64_t, int>> parts) {
  ReferenceSum sum;
  for (const auto& [units, exponent] : parts) {
    // In two halves, each of which a double holds.
    sum.add(std::ldexp(static_cast<double>(units >> 32), exponent + 32));
    sum.add(std::ldexp(static_cast<double>(units & 0xffffffff), exponent));
  }
  return sum.exact();
}

void expect_equal(const FloatSums& sums, const FloatWindow& window, const std::vector<float>& values) {
  const Statistics expected = reference_statistics({values.begin(), values.end()});
  EXPECT_EQ(exact({{sums.sum, window.unit}}), expected.sum);
  EXPECT_EQ(exact({{sums.abs_sum, window.unit}}), expected.abs_sum);
  EXPECT_EQ(exact({{sums.square_high_sum, window.square_high_unit}, {sums.square_low_sum, window.square_low_unit}}),
            expected.square_sum);
}

void expect_exact_sums(const std::vector<float>& values, const FloatWindow& window) {
  EXPECT_TRUE(window.holds(scan_floats(values.data(), values.size())));
  expect_equal(sum_floats(values.data(), values.size(), window), window, values);
}

TEST(ScanFloats, FindsExtremesAtAnyPlaceAndLength) {
  for_each_target([] {
    for (std::size_t count = 1; count < 140; ++count) {
      std::vector<float> values = random_values(count, -3, 3, static_cast<std::uint32_t>(count));
      const std::size_t place = count * 7 % count;
      values[place] = 100;
      values[count / 2] = -200;
      values[count - 1] = 0x1p-140f;
      const FloatScan scan = scan_floats(values.data(), count);
      const Statistics expected = reference_statistics({values.begin(), values.end()});
      EXPECT_TRUE(scan.finite);
      EXPECT_EQ(scan.zero_count, 0u);
      EXPECT_EQ(scan.min, expected.min);
      EXPECT_EQ(scan.max, expected.max);
      EXPECT_EQ(scan.abs_max, expected.abs_max);
      EXPECT_EQ(scan.abs_min, expected.abs_min);
    }
  });
}

TEST(ScanFloats, CountsZerosOfBothSigns) {
  for_each_target([] {
    for (std::size_t count = 1; count < 140; ++count) {
      for (std::size_t zeros = 1; zeros <= count; zeros += 5) {
        std::vector<float> values = random_values(count, -3, 3, static_cast<std::uint32_t>(count));
        for (std::size_t i = 0; i < zeros; ++i) values[(i * 11 + count) % count] = i % 2 == 0 ? 0.0f : -0.0f;
        const auto expected = std::count(values.begin(), values.end(), 0.0f);
        const FloatScan scan = scan_floats(values.data(), count);
        ASSERT_EQ(scan.zero_count, static_cast<std::size_t>(expected)) << count << " values";
      }
    }
    const std::vector<float> zeros(77);
    const FloatScan scan = scan_floats(zeros.data(), zeros.size());
    EXPECT_EQ(scan.zero_count, 77u);
    EXPECT_EQ(scan.abs_max, 0);
    EXPECT_EQ(scan.abs_min, 0);
    EXPECT_TRUE(scan.finite);
  });
}

TEST(ScanFloats, SeesWhatIsNotFiniteAnywhere) {
  for_each_target([] {
    for (const float bad : {INFINITY, -INFINITY, NAN, -NAN}) {
      for (std::size_t place = 0; place < 100; ++place) {
        std::vector<float> values = random_values(100, -3, 3, 1);
        values[place] = bad;
        EXPECT_FALSE(scan_floats(values.data(), values.size()).finite) << "place " << place;
        values[99 - place] = place == 99 - place ? bad : 0;
        EXPECT_FALSE(scan_floats(values.data(), values.size()).finite) << "with a zero, place " << place;
      }
    }
  });
}

// A block takes a sanitizer a hundred times as long.
#if defined(TW_SANITIZED)
constexpr std::array kTops = {127, 0, -126};
constexpr std::uint32_t kSeeds = 10;
#else
constexpr std::array kTops = {127, 60, 0, -60, -100, -120, -126};
constexpr std::uint32_t kSeeds = 40;
#endif

TEST(SumFloats, IsExactAtTheEdgesOfTheWindow) {
  for_each_target([] {
    for (const int top : kTops) {
      for (const std::size_t count : {std::size_t{1}, std::size_t{3}, std::size_t{64}, std::size_t{257}, kFloatBlock}) {
        // All elements as large as can be, then all as small as can be, with the largest mantissas of all.
        const float largest = std::ldexp(2.0f - 0x1p-23f, top);
        const FloatWindow window = window_below(largest, count);
        expect_exact_sums(std::vector<float>(count, largest), window);
        expect_exact_sums(std::vector<float>(count, -largest), window);
        const float floor = window.floor > 0 ? window.floor * (1 + 0x1p-23f) : kSmallest;
        std::vector<float> values(count, floor);
        expect_exact_sums(values, window);
        values[0] = largest;
        expect_exact_sums(values, window);
      }
    }
  });
}

TEST(SumFloats, IsExactForRandomValuesThatFillTheWindow) {
  for_each_target([] {
    for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
      const std::size_t count = 1 + seed * 977 % kFloatBlock;
      const int top = static_cast<int>(seed * 13 % 250) - 125;
      const FloatWindow window = window_below(std::ldexp(2.0f - 0x1p-23f, top), count);
      const int bottom = window.floor > 0 ? std::ilogb(window.floor) : -126;
      EXPECT_LE(bottom, std::max(top - 16, -126)) << "a window is wide enough to be of use";
      expect_exact_sums(random_values(count, bottom, top, seed), window);
    }
  });
}

TEST(SumFloats, TakesDenormalsInTheLowestWindow) {
  for_each_target([] {
    const FloatWindow window = window_below(0x1p-120f, 100);
    EXPECT_EQ(window.floor, 0);
    std::vector<float> values = random_values(100, -126, -121, 3);
    for (std::size_t i = 0; i < values.size(); i += 2) values[i] = kSmallest * static_cast<float>(i * 70'001 + 1);
    expect_exact_sums(values, window);
    const FloatWindow denormal_window = window_below(kSmallest, 5);
    expect_exact_sums(std::vector<float>(5, kSmallest), denormal_window);
  });
}

TEST(ScanAndSumBlock, IsTheTwoInOne) {
  const std::vector<std::vector<float>> blocks = {random_values(kFloatBlock, -14, 2, 1),
                                                  random_values(kFloatBlock, -140, -120, 2),
                                                  std::vector<float>(kFloatBlock, 3)};
  for_each_target([&] {
    for (std::vector<float> values : blocks) {
      for (const bool with_zeros : {false, true}) {
        if (with_zeros) values[0] = values[777] = 0;
        const FloatScan expected = scan_floats(values.data(), values.size());
        const FloatWindow window = window_below(expected.abs_max, kFloatBlock);
        FloatSums sums;
        const FloatScan scan = scan_and_sum_block(values.data(), window, sums);
        EXPECT_EQ(scan.zero_count, expected.zero_count);
        EXPECT_EQ(scan.min, expected.min);
        EXPECT_EQ(scan.max, expected.max);
        EXPECT_EQ(scan.abs_min, expected.abs_min);
        EXPECT_EQ(scan.abs_max, expected.abs_max);
        ASSERT_TRUE(window.holds(scan));
        expect_equal(sums, window, values);
      }
    }
  });
}

TEST(ScanAndSumBlock, SaysWhenTheGuessWasWrong) {
  for_each_target([] {
    const FloatWindow window = window_below(1.0f, kFloatBlock);
    FloatSums sums;
    const auto holds = [&](float outlier) {
      std::vector<float> values(kFloatBlock, 1.0f);
      values[1234] = outlier;
      return window.holds(scan_and_sum_block(values.data(), window, sums));
    };
    EXPECT_TRUE(holds(0));
    EXPECT_TRUE(holds(std::nextafter(2.0f, 0.0f)));
    EXPECT_FALSE(holds(2.0f));
    EXPECT_TRUE(holds(-window.floor));
    EXPECT_FALSE(holds(std::nextafter(window.floor, 0.0f)));
    for (const float bad : {NAN, INFINITY, -INFINITY, 1e30f, 1e-30f}) EXPECT_FALSE(holds(bad)) << bad;
  });
}

TEST(SplitFloats, SharesOutAroundTheFloor) {
  for_each_target([] {
    for (std::size_t count = 1; count < 140; ++count) {
      std::vector<float> values = random_values(count, -20, 20, static_cast<std::uint32_t>(count));
      values[count / 2] = 0;
      values[count - 1] = -1;  // exactly the floor: not below it
      std::vector<float> high(count);
      std::vector<float> low(count);
      const float low_max = split_floats(values.data(), count, 1.0f, high.data(), low.data());
      float expected_low_max = 0;
      for (std::size_t i = 0; i < count; ++i) {
        const bool is_low = std::fabs(values[i]) < 1;
        ASSERT_EQ(high[i], is_low ? 0 : values[i]);
        ASSERT_EQ(low[i], is_low ? values[i] : 0);
        if (is_low) expected_low_max = std::max(expected_low_max, std::fabs(values[i]));
      }
      ASSERT_EQ(low_max, expected_low_max);
      // The low part may take the place of the values.
      EXPECT_EQ(split_floats(values.data(), count, 1.0f, high.data(), values.data()), low_max);
      EXPECT_EQ(values, low);
    }
  });
}

TEST(WindowBelow, EndsAtTheLargestAndReachesDown) {
  for_each_target([] {
    const FloatWindow window = window_below(kLargest, kFloatBlock);
    EXPECT_GE(window.floor, 0x1p105f);
    EXPECT_LE(window.floor, 0x1p111f);
    EXPECT_TRUE(std::isinf(window.ceiling));
    EXPECT_EQ(window_below(1.5f, 4).ceiling, 2);
    EXPECT_EQ(window_below(kSmallest, 4).ceiling, 0x1p-125f);
    EXPECT_EQ(window_below(0x1p-110f, 4).floor, 0);
  });
}

}  // namespace
}  // namespace trainwarden
