// The kernel's source, compiled as C++, against the statistics of the CPU: the same bits for any elements.
#include "data/device/statistics_kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "data/device/host_warp.h"
#include "data/device/raw_statistics.h"
#include "trainwarden/statistics.h"

namespace trainwarden::device {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TensorTask task_of(const TensorView& view) {
  TensorTask task;
  task.data = view.data;
  task.count = static_cast<U64>(view.element_count());
  task.dtype = static_cast<U32>(view.dtype);
  return task;
}

template <class Element>
TensorView view_of(const std::vector<Element>& elements, DType dtype) {
  return TensorView::of(elements.data(), dtype, {static_cast<std::int64_t>(elements.size())});
}

void expect_same_bits(const TensorView& view) {
  RawStatistics raw{};
  const TensorTask task = task_of(view);
  summarize_on_host({&task, 1}, static_cast<std::uint32_t>(part_count(task.count)), &raw);
  const Statistics kernel = to_statistics(raw, task.count);
  const Statistics cpu = compute_statistics(view).value();
  EXPECT_EQ(kernel, cpu) << "sum " << kernel.sum.to_double() << " or " << cpu.sum.to_double() << ", squares "
                         << kernel.square_sum.to_double() << " or " << cpu.square_sum.to_double() << ", min "
                         << kernel.min << " or " << cpu.min << ", zeros " << kernel.zero_count << " or "
                         << cpu.zero_count;
}

void expect_same_bits(const std::vector<float>& values) {
  expect_same_bits(view_of(values, DType::kFloat32));
}

std::vector<float> normal_values(std::size_t count, float scale, std::uint32_t seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, scale);
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

// Every exponent and sign is as likely as any other, with NaN, infinities, zeros and denormals among them.
std::vector<float> values_of_random_bits(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
  return values;
}

TEST(StatisticsKernelTest, AnyNumberOfElementsAroundTheBordersOfLanesTilesAndParts) {
  const std::vector<float> all = normal_values(3 * kPartElements + 5, 0.02f);
  for (const std::size_t border : {std::size_t{0}, std::size_t{kLanes}, std::size_t{kTileElements},
                                   std::size_t{kPartElements}, std::size_t{3 * kPartElements}}) {
    for (const std::size_t offset : {0, 1, 2, 31, 33}) {
      for (const std::size_t count : {border + offset, border - offset}) {
        if (count == 0 || count > all.size()) continue;
        SCOPED_TRACE(count);
        expect_same_bits(std::vector<float>(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)));
      }
    }
  }
}

TEST(StatisticsKernelTest, MagnitudesOfEveryExponent) {
  for (std::uint32_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    expect_same_bits(values_of_random_bits(2 * kPartElements + 77, seed));
  }
}

TEST(StatisticsKernelTest, SpreadOverManyDecadesAsOptimizerStateIs) {
  std::vector<float> values = normal_values(20000, 6.0f);
  for (float& value : values) value = std::exp(value) * 1e-12f;
  expect_same_bits(values);
}

TEST(StatisticsKernelTest, GrowingAndShrinkingElementsMoveTheWindow) {
  std::vector<float> values = normal_values(8 * kTileElements, 1.0f);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const int tile = static_cast<int>(i / kTileElements);
    values[i] = std::ldexp(values[i], tile < 4 ? 9 * tile : 9 * (8 - tile) - 60);
  }
  expect_same_bits(values);
}

TEST(StatisticsKernelTest, DenormalsZerosAndTheLargestNumbers) {
  constexpr float kDenormal = std::numeric_limits<float>::denorm_min();
  constexpr float kLargest = std::numeric_limits<float>::max();
  expect_same_bits(std::vector<float>(1000, kDenormal));
  expect_same_bits(std::vector<float>(kPartElements, -kLargest));
  expect_same_bits(std::vector<float>(kPartElements + 1, 0.0f));
  expect_same_bits(std::vector<float>{-0.0f, 0.0f, -0.0f});
  std::vector<float> mixed(3 * kTileElements, kLargest);
  for (std::size_t i = 0; i < mixed.size(); i += 3) mixed[i] = i % 2 == 0 ? -kDenormal : std::ldexp(1.0f, -126);
  expect_same_bits(mixed);
}

TEST(StatisticsKernelTest, NanAndInfinitiesAreCountedAndLeftOut) {
  std::vector<float> values = normal_values(kPartElements + 100, 1.0f);
  values[0] = kNan;
  values[31] = -kNan;
  values[500] = kInfinity;
  values[513] = -kInfinity;
  values.back() = std::bit_cast<float>(0x7fffffffu);  // as where there is no element
  expect_same_bits(values);
  expect_same_bits(std::vector<float>(700, kNan));
  expect_same_bits(std::vector<float>{kInfinity, -kInfinity, kInfinity});
  expect_same_bits(std::vector<float>{kNan, -2.0f});
}

TEST(StatisticsKernelTest, EveryHalf) {
  std::vector<std::uint16_t> bits(65536);
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<std::uint16_t>(i);
  std::shuffle(bits.begin(), bits.end(), std::mt19937(7));
  expect_same_bits(view_of(bits, DType::kFloat16));
  expect_same_bits(view_of(bits, DType::kBFloat16));
  for (std::size_t i = 0; i < bits.size(); i += 1000) {
    const std::vector<std::uint16_t> one(3, bits[i]);
    expect_same_bits(view_of(one, DType::kFloat16));
    expect_same_bits(view_of(one, DType::kBFloat16));
  }
}

TEST(StatisticsKernelTest, ManyTensorsInOneLaunchAndPartsInAnyOrder) {
  std::vector<std::vector<float>> tensors;
  std::vector<TensorTask> tasks;
  std::uint32_t parts = 0;
  for (std::size_t i = 0; i < 12; ++i) {
    tensors.push_back(normal_values(1 + i * i * 397, std::ldexp(1.0f, static_cast<int>(i) - 6), 3 + std::uint32_t(i)));
    tasks.push_back(task_of(view_of(tensors.back(), DType::kFloat32)));
    tasks.back().first_part = parts;
    parts += static_cast<std::uint32_t>(part_count(tasks.back().count));
  }
  std::vector<RawStatistics> raw(tasks.size());
  HostWarp warp;
  for (std::uint32_t part = parts; part-- > 0;) {
    const U32 task = find_task(tasks.data(), static_cast<U32>(tasks.size()), part);
    summarize_part(warp, tasks[task], part, raw[task]);
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    EXPECT_EQ(to_statistics(raw[i], tensors[i].size()),
              compute_statistics(view_of(tensors[i], DType::kFloat32)).value());
  }
}

}  // namespace
}  // namespace trainwarden::device
