// compute_statistics against the definition, for every dtype, layout, CPU target, thread count and split.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <random>
#include <vector>

#include "data/tensor/element.h"
#include "data/tensor/reference_statistics.h"
#include "trainwarden/tensor_value.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace trainwarden {
namespace {

constexpr StatisticsOptions kEverything = {.histogram = true, .hash = true, .threads = 1};

TensorView view_of(DType dtype, const std::vector<std::byte>& bytes) {
  return TensorView::of(bytes.data(), dtype, {static_cast<std::int64_t>(bytes.size() / item_bytes(dtype))});
}

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& elements) {
  std::vector<std::byte> bytes(elements.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), elements.data(), bytes.size());
  return bytes;
}

template <class T>
Statistics compute(DType dtype, const std::vector<T>& elements, const StatisticsOptions& options = {}) {
  const Shape shape = {static_cast<std::int64_t>(elements.size() * sizeof(T) / item_bytes(dtype))};
  return compute_statistics(TensorView::of(elements.data(), dtype, shape), options).value();
}

Statistics core(Statistics statistics) {
  statistics.has_hash = statistics.has_histogram = false;
  statistics.hash = 0;
  statistics.histogram.bins.clear();
  return statistics;
}

// The components as exact double-precision numbers; 64-bit integers must be below 2^53.
std::vector<double> components_of(DType dtype, const std::vector<std::byte>& bytes) {
  std::vector<double> components;
  visit_component(dtype, [&]<class T>(T component) {
    for (std::size_t at = 0; at < bytes.size(); at += sizeof component) {
      std::memcpy(&component, bytes.data() + at, sizeof component);
      if constexpr (std::is_arithmetic_v<T>) {
        components.push_back(static_cast<double>(component));
      } else {
        components.push_back(static_cast<double>(to_float(component)));
      }
    }
  });
  return components;
}

// Elements with all kinds of patterns: mostly ordinary numbers, some of any bits at all.
std::vector<std::byte> random_elements(DType dtype, std::size_t count, std::uint32_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<std::byte> bytes(count * item_bytes(dtype));
  visit_component(dtype, [&]<class T>(T component) {
    for (std::size_t at = 0; at < bytes.size(); at += sizeof component) {
      std::uint64_t bits = random();
      if constexpr (sizeof(T) == 8 && std::is_integral_v<T>) bits >>= 12;
      std::memcpy(&component, &bits, sizeof component);
      if constexpr (std::is_floating_point_v<T>) {
        if (random() % 16 != 0) component = static_cast<T>(normal(random));
      }
      std::memcpy(bytes.data() + at, &component, sizeof component);
    }
  });
  return bytes;
}

std::vector<DType> numeric_dtypes() {
  std::vector<DType> dtypes;
  for (int i = 0; i < kDTypeCount; ++i) {
    if (static_cast<DType>(i) != DType::kString) dtypes.push_back(static_cast<DType>(i));
  }
  return dtypes;
}

class EveryDType : public testing::TestWithParam<DType> {};

TEST_P(EveryDType, IsTheDefinitionOnEveryCpu) {
  for (const std::size_t count : {0u, 1u, 2u, 15u, 100u, 1023u, 2100u}) {
    const std::vector<std::byte> bytes = random_elements(GetParam(), count, 1);
    const Statistics expected = reference_statistics(components_of(GetParam(), bytes));
    for_each_target([&] { ASSERT_EQ(compute_statistics(view_of(GetParam(), bytes)).value(), expected) << count; });
  }
}

TEST_P(EveryDType, PartsMergeToTheWhole) {
  const std::size_t count = 5000;
  const std::vector<std::byte> bytes = random_elements(GetParam(), count, 2);
  const Statistics whole = compute_statistics(view_of(GetParam(), bytes), kEverything).value();
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    std::vector<std::size_t> cuts = {0, count};
    for (unsigned i = 0; i < random() % 8; ++i) cuts.push_back(random() % (count + 1));
    std::sort(cuts.begin(), cuts.end());
    std::vector<Statistics> parts;
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
      const std::byte* first = bytes.data() + cuts[i] * item_bytes(GetParam());
      const auto part_count = static_cast<std::int64_t>(cuts[i + 1] - cuts[i]);
      parts.push_back(compute_statistics(TensorView::of(first, GetParam(), {part_count}), kEverything).value());
    }
    Statistics in_order;
    for (const Statistics& part : parts) in_order.merge(part);
    ASSERT_EQ(in_order, whole);

    Statistics grouped;  // associative: the last ones first
    for (std::size_t i = parts.size(); i-- > 0;) {
      Statistics group = parts[i];
      group.merge(grouped);
      grouped = group;
    }
    ASSERT_EQ(grouped, whole);

    std::shuffle(parts.begin(), parts.end(), random);
    Statistics shuffled;
    for (const Statistics& part : parts) shuffled.merge(part);
    shuffled.hash = whole.hash;  // which alone knows the order
    ASSERT_EQ(shuffled, whole);
  }
}

TEST_P(EveryDType, ThreadsDoNotShow) {
  const std::vector<std::byte> bytes = random_elements(GetParam(), (std::size_t{1} << 19) + 77, 4);
  const Statistics alone = compute_statistics(view_of(GetParam(), bytes), kEverything).value();
  for (const int threads : {2, 3, 4, 100}) {
    const StatisticsOptions options = {.histogram = true, .hash = true, .threads = threads};
    ASSERT_EQ(compute_statistics(view_of(GetParam(), bytes), options).value(), alone) << threads << " threads";
  }
  for_each_target([&] { ASSERT_EQ(compute_statistics(view_of(GetParam(), bytes), kEverything).value(), alone); });
}

TEST_P(EveryDType, LayoutDoesNotShow) {
  const std::vector<std::byte> bytes = random_elements(GetParam(), 40 * 60, 5);
  const auto item = static_cast<std::int64_t>(item_bytes(GetParam()));
  const std::vector<TensorView> views = {
      TensorView::strided(bytes.data(), GetParam(), std::vector<std::int64_t>{60, 40}, std::vector<std::int64_t>{1, 60})
          .value(),  // transposed
      TensorView::strided(bytes.data() + (40 * 60 - 1) * item, GetParam(), std::vector<std::int64_t>{40, 60},
                          std::vector<std::int64_t>{-60, -1})
          .value(),  // backwards
      TensorView::strided(bytes.data(), GetParam(), std::vector<std::int64_t>{20, 3, 30},
                          std::vector<std::int64_t>{120, 0, 2})
          .value(),  // every other element, three times each
  };
  for (const TensorView& view : views) {
    std::vector<std::byte> packed(view.packed_bytes());
    ASSERT_TRUE(copy_packed(view, packed.data()).ok());
    const Statistics expected = compute_statistics(view_of(GetParam(), packed), kEverything).value();
    ASSERT_EQ(compute_statistics(view, kEverything).value(), expected);
  }
}

TEST_P(EveryDType, AlignmentDoesNotShow) {
  const std::vector<std::byte> bytes = random_elements(GetParam(), 4100, 6);
  const Statistics expected = compute_statistics(view_of(GetParam(), bytes), kEverything).value();
  std::vector<std::byte> room(bytes.size() + 64);
  for (std::size_t shift = 0; shift < 64; shift += 3) {
    std::memcpy(room.data() + shift, bytes.data(), bytes.size());
    const TensorView shifted = TensorView::of(room.data() + shift, GetParam(), {4100});
    ASSERT_EQ(compute_statistics(shifted, kEverything).value(), expected) << "shifted by " << shift << " bytes";
  }
}

INSTANTIATE_TEST_SUITE_P(DTypes, EveryDType, testing::ValuesIn(numeric_dtypes()),
                         [](const auto& test) { return std::string(name(test.param)); });

std::vector<float> adversarial_floats() {
  constexpr float kMax = std::numeric_limits<float>::max();
  constexpr float kMin = std::numeric_limits<float>::denorm_min();
  std::mt19937 random(7);
  std::vector<float> values;
  for (int i = 0; i < 3000; ++i) {
    switch (random() % 8) {
      case 0: values.push_back(kMax); break;
      case 1: values.push_back(kMin); break;
      case 2: values.push_back(-kMax); break;
      case 3: values.push_back(-kMin * 3); break;
      case 4: values.push_back(random() % 2 == 0 ? 0.0f : -0.0f); break;
      default: {  // any finite pattern
        const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
        values.push_back(std::isfinite(value) ? value : 1.0f);
      }
    }
  }
  return values;
}

TEST(ComputeStatistics, AdversarialRanges) {
  const std::vector<float> values = adversarial_floats();
  const Statistics expected = reference_statistics({values.begin(), values.end()});
  for_each_target([&] { EXPECT_EQ(compute(DType::kFloat32, values), expected); });
  const std::vector<double> doubles = {0x1p-1074, 1.7e308, -1.7e308, 1.7e308, 1.7e308, -0x1p-1074, 3e-320, 1, -1e-200};
  EXPECT_EQ(compute(DType::kFloat64, doubles), reference_statistics(doubles));
}

TEST(ComputeStatistics, TwoSeparateRangesAsInRealGradients) {
  std::mt19937 random(8);
  std::normal_distribution<float> normal;
  std::vector<float> values(5000);
  for (float& value : values) value = normal(random) * (random() % 10 == 0 ? 1e-12f : 1e-3f);
  const Statistics expected = reference_statistics({values.begin(), values.end()});
  for_each_target([&] { EXPECT_EQ(compute(DType::kFloat32, values), expected); });
}

// The range of each block is guessed from the block before: it must not matter when the guess is wrong.
TEST(ComputeStatistics, RangesThatChangeAlongTheWay) {
  std::mt19937 random(10);
  std::normal_distribution<float> normal;
  std::vector<float> values(100'000);
  for (std::size_t i = 0; i < values.size(); ++i) {
    constexpr float kScales[] = {1, 1, 1e20f, 1e20f, 1e-20f, 0, 1e-38f, 3, 3, 3};
    values[i] = normal(random) * kScales[i / 2500 % std::size(kScales)];
    if (i % 30'011 == 17) values[i] = NAN;
    if (i % 20'011 == 19) values[i] = 1e30f;
    if (i % 10'007 == 23) values[i] = 1e-30f;
  }
  const Statistics expected = reference_statistics({values.begin(), values.end()});
  for_each_target([&] { EXPECT_EQ(compute(DType::kFloat32, values), expected); });
}

TEST(ComputeStatistics, TinyVarianceAroundALargeMean) {
  std::vector<double> doubles;
  for (int i = 0; i < 10'000; ++i) doubles.push_back(1e8 + (i % 2 == 0 ? 1e-4 : -1e-4));
  const Statistics s = compute(DType::kFloat64, doubles);
  // The two values are 1e8 ± d as doubles; their variance is d², which n·Σx² − (Σx)² in doubles would lose.
  const double spread = (doubles[0] - doubles[1]) / 2;
  EXPECT_EQ(s.variance(), spread * spread);
  std::vector<float> floats(10'000, 16777216.0f);
  for (std::size_t i = 0; i < floats.size(); i += 2) floats[i] = 16777214.0f;
  EXPECT_EQ(compute(DType::kFloat32, floats).variance(), 1.0);
}

TEST(ComputeStatistics, NotFiniteOnesAreCountedApart) {
  std::vector<float> values(3000, 0.5f);
  for (std::size_t i = 0; i < values.size(); i += 7) values[i] = NAN;
  for (std::size_t i = 1; i < values.size(); i += 7) values[i] = INFINITY;
  for (std::size_t i = 2; i < values.size(); i += 700) values[i] = -INFINITY;
  for (std::size_t i = 3; i < values.size(); i += 7) values[i] = -0.0f;
  const Statistics expected = reference_statistics({values.begin(), values.end()});
  for_each_target([&] { EXPECT_EQ(compute(DType::kFloat32, values), expected); });
  const std::vector<double> doubles(values.begin(), values.end());
  EXPECT_EQ(compute(DType::kFloat64, doubles), expected);
}

TEST(ComputeStatistics, AllZerosAndAllNan) {
  const Statistics zeros = compute(DType::kFloat32, std::vector<float>(5000, -0.0f));
  EXPECT_EQ(zeros.zero_count, 5000u);
  EXPECT_EQ(zeros.sum, ExactSum{});
  EXPECT_EQ(zeros.square_sum, ExactSum{});
  EXPECT_FALSE(std::signbit(zeros.min)) << "one zero, whatever the sign";
  EXPECT_EQ(zeros.variance(), 0);
  const Statistics nans = compute(DType::kFloat32, std::vector<float>(5000, NAN));
  EXPECT_EQ(nans.nan_count, 5000u);
  EXPECT_TRUE(std::isnan(nans.max));
}

TEST(ComputeStatistics, SixtyFourBitIntegersDoNotWrap) {
  const std::vector<std::uint64_t> large(1000, ~std::uint64_t{0});
  const Statistics s = compute(DType::kUInt64, large);
  EXPECT_EQ(s.sum, (ExactSum{false, 0, {~std::uint64_t{0} - 999, 999}}));  // 1000·2^64 − 1000
  EXPECT_EQ(s.l2(), std::sqrt(1000.0) * 0x1p64);
  EXPECT_EQ(s.variance(), 0);
  const std::vector<std::int64_t> lowest = {std::numeric_limits<std::int64_t>::min(), 0, -1};
  const Statistics t = compute(DType::kInt64, lowest);
  EXPECT_EQ(t.min, -0x1p63);
  EXPECT_EQ(t.abs_max, 0x1p63);
  EXPECT_EQ(t.sum, (ExactSum{true, 0, {(std::uint64_t{1} << 63) + 1}}));
  EXPECT_EQ(t.abs_min, 0);
  EXPECT_EQ(t.zero_count, 1u);
}

TEST(ComputeStatistics, ComplexIsTwiceAsManyReals) {
  const std::vector<float> parts = {3, 4, 0, -12};
  const Statistics s = compute(DType::kComplex64, parts, kEverything);
  EXPECT_EQ(s, compute(DType::kFloat32, parts, kEverything));
  EXPECT_EQ(s.count, 4u);
  EXPECT_EQ(s.l2(), 13);
}

TEST(ComputeStatistics, ScalarHasOneElement) {
  const double value = -2.5;
  const Statistics s = compute_statistics(TensorView::of(&value, DType::kFloat64, {})).value();
  EXPECT_EQ(s.count, 1u);
  EXPECT_EQ(s.mean(), -2.5);
  EXPECT_EQ(s.variance(), 0);
}

TEST(ComputeStatistics, HistogramOfOtherTypesIsThatOfTheirFloats) {
  const std::vector<double> doubles = {1, -3, 1e300, -1e300, 1e-300, INFINITY, NAN, 0.1};
  constexpr float kMax = std::numeric_limits<float>::max();
  const std::vector<float> floats = {1, -3, kMax, -kMax, 0, INFINITY, NAN, 0.1f};
  EXPECT_EQ(compute(DType::kFloat64, doubles, kEverything).histogram,
            compute(DType::kFloat32, floats, kEverything).histogram);
  const std::vector<std::int64_t> integers = {1, -3, 1ll << 40, 0};
  const std::vector<float> same = {1, -3, 0x1p40f, 0};
  EXPECT_EQ(compute(DType::kInt64, integers, kEverything).histogram,
            compute(DType::kFloat32, same, kEverything).histogram);
}

TEST(ComputeStatistics, HistogramHashAndCoreAreIndependent) {
  const std::vector<std::byte> bytes = random_elements(DType::kFloat32, 3000, 9);
  const TensorView view = view_of(DType::kFloat32, bytes);
  const Statistics all = compute_statistics(view, kEverything).value();
  const Statistics hashed = compute_statistics(view, {.hash = true}).value();
  const Statistics counted = compute_statistics(view, {.histogram = true}).value();
  EXPECT_EQ(hashed.hash, all.hash);
  EXPECT_FALSE(hashed.has_histogram);
  EXPECT_EQ(counted.histogram, all.histogram);
  EXPECT_FALSE(counted.has_hash);
  EXPECT_EQ(core(all), compute_statistics(view).value());
  std::uint64_t in_bins = 0;
  for (const Histogram::Bin& bin : all.histogram.bins) in_bins += bin.count;
  EXPECT_EQ(in_bins, all.finite_count());
}

TEST(ComputeStatistics, SaysWhatItCannotRead) {
  const std::string_view word = "w";
  EXPECT_EQ(compute_statistics(TensorView::of(&word, DType::kString, {1})).status().code(), Code::kInvalidArgument);
  const float value = 1;
  const auto on_gpu = TensorView::of(&value, DType::kFloat32, {}, {DeviceType::kCuda, 0});
  EXPECT_EQ(compute_statistics(on_gpu).status().code(), Code::kFailedPrecondition);
  EXPECT_EQ(compute_statistics(TensorView::of(nullptr, DType::kFloat32, {2})).status().code(), Code::kInvalidArgument);
  EXPECT_TRUE(compute_statistics(TensorView::of(nullptr, DType::kFloat32, {0})).ok());
}

TEST(ComputeStatistics, CallersRoundingModeHasNoSayAndStays) {
  const std::vector<float> values = adversarial_floats();
  const Statistics expected = compute(DType::kFloat32, values);
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(mode);
    const Statistics found = compute(DType::kFloat32, values);
    Statistics merged = found;
    merged.merge(found);
    const double deviation = merged.deviation();
    EXPECT_EQ(std::fegetround(), mode);
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(found, expected);
    EXPECT_EQ(deviation, expected.deviation());
  }
}

#if defined(__x86_64__)
TEST(ComputeStatistics, DenormalsCountWhateverTheCallerFlushes) {
  const std::vector<float> floats = {0x1p-149f, -0x1p-130f, 0x1p-127f, 0};
  const std::vector<double> doubles = {0x1p-1074, -0x1p-1030, 0};
  const std::vector<std::uint16_t> halves = {0x0001, 0x8003, 0};
  const unsigned before = _mm_getcsr();
  const auto compute_all = [&] {
    std::vector<Statistics> all = {compute(DType::kFloat32, floats, kEverything),
                                   compute(DType::kFloat64, doubles, kEverything),
                                   compute(DType::kFloat16, halves, kEverything)};
    all.push_back(all[1]);
    all.back().merge(all[1]);
    return all;
  };
  const std::vector<Statistics> expected = compute_all();
  EXPECT_EQ(expected[0].zero_count, 1u);
  EXPECT_EQ(expected[1].abs_min, 0);
  constexpr unsigned kFlushToZeroAndDenormalsAreZero = 0x8040;
  for_each_target([&] {
    _mm_setcsr(before | kFlushToZeroAndDenormalsAreZero);
    const std::vector<Statistics> found = compute_all();
    const std::vector<double> numbers = {found[1].sum.to_double(), found[1].mean(), found[1].l1()};
    const unsigned after = _mm_getcsr();
    _mm_setcsr(before);
    EXPECT_EQ(after, before | kFlushToZeroAndDenormalsAreZero) << "the caller's mode must stay";
    EXPECT_EQ(found, expected);
    EXPECT_EQ(numbers, (std::vector<double>{expected[1].sum.to_double(), expected[1].mean(), expected[1].l1()}));
    EXPECT_EQ(numbers[0], 0x1p-1074 - 0x1p-1030);
  });
}
#endif

}  // namespace
}  // namespace trainwarden
