#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <map>
#include <random>

#include "data/tensor/histogram_counter.h"

namespace trainwarden {
namespace {

using Bin = Histogram::Bin;

Histogram count(const std::vector<float>& values) {
  HistogramCounter counter;
  counter.add(values.data(), values.size());
  return counter.histogram();
}

TEST(Histogram, FourBinsAnOctave) {
  EXPECT_EQ(Histogram::lower_edge(0), 0.0);
  EXPECT_EQ(Histogram::upper_edge(0), 0x1p-128);
  EXPECT_EQ(Histogram::lower_edge(4), 0x1p-126);
  EXPECT_EQ(Histogram::lower_edge(127 * 4), 1.0);
  EXPECT_EQ(Histogram::lower_edge(127 * 4 + 1), 1.25);
  EXPECT_EQ(Histogram::upper_edge(127 * 4 + 3), 2.0);
  EXPECT_EQ(Histogram::lower_edge(1024 + 127 * 4 + 2), -1.5);
  EXPECT_EQ(Histogram::upper_edge(1024 + 127 * 4 + 2), -1.75);
  EXPECT_EQ(Histogram::upper_edge(254 * 4 + 3), 0x1p128);
  EXPECT_TRUE(std::signbit(Histogram::lower_edge(1024)));
}

TEST(Histogram, ValuesLieInTheirBins) {
  std::mt19937 random(1);
  for (int round = 0; round < 5000; ++round) {
    const float value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    const Histogram histogram = count({value});
    if (!std::isfinite(value)) {
      ASSERT_TRUE(histogram.bins.empty());
      continue;
    }
    ASSERT_EQ(histogram.bins.size(), 1u);
    const int bin = histogram.bins[0].index;
    ASSERT_EQ(bin < 1024, !std::signbit(value));
    ASSERT_LE(std::fabs(Histogram::lower_edge(bin)), std::fabs(value));
    ASSERT_LT(std::fabs(value), std::fabs(Histogram::upper_edge(bin)));
  }
}

TEST(Histogram, CountsAndSkipsWhatIsNotFinite) {
  const Histogram histogram = count({1.0f, 1.1f, -2.0f, 0.0f, -0.0f, NAN, -NAN, INFINITY, -INFINITY, 1.2f});
  const std::vector<Bin> expected = {{0, 1}, {508, 3}, {1024, 1}, {1024 + 512, 1}};
  EXPECT_EQ(histogram.bins, expected);
}

TEST(Histogram, ManyEqualValuesDoNotOverflowTheTallies) {
  HistogramCounter counter;
  const std::vector<float> values(70'001, 1.0f);
  for (int i = 0; i < 10; ++i) counter.add(values.data(), values.size());
  EXPECT_EQ(counter.histogram().bins, (std::vector<Bin>{{508, 700'010}}));
}

TEST(Histogram, PiecesOfAnyLength) {
  std::mt19937 random(2);
  std::normal_distribution<float> normal;
  HistogramCounter counter;
  std::map<std::uint16_t, std::uint64_t> expected;
  for (int piece = 0; piece < 300; ++piece) {
    std::vector<float> values(random() % 40);
    for (float& value : values) {
      value = normal(random);
      ++expected[static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 21)];
    }
    counter.add(values.data(), values.size());
  }
  std::map<std::uint16_t, std::uint64_t> found;
  for (const Bin& bin : counter.histogram().bins) found[bin.index] = bin.count;
  EXPECT_EQ(found, expected);
}

TEST(Histogram, MergesByBin) {
  Histogram a = count({1, 1, 4});
  a.merge(count({-1, 1, 8}));
  EXPECT_EQ(a, count({1, 1, 4, -1, 1, 8}));
  a.merge(Histogram{});
  EXPECT_EQ(a, count({1, 1, 4, -1, 1, 8}));
  Histogram empty;
  empty.merge(a);
  EXPECT_EQ(empty, a);
}

}  // namespace
}  // namespace trainwarden
