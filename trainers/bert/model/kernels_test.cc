// Tests of the kernels: dropout, and sizes that fill no vector.
#include "model/kernels.h"

#include <cmath>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace bert::kernels {
namespace {

// What dropout makes of ones.
std::vector<float> dropped_ones(const Dropout& dropout, std::size_t rows, std::size_t columns, std::size_t first_row) {
  const std::vector<float> zeros(rows * columns), norm(columns, 1.0f);
  std::vector<float> sum(rows * columns, 1.0f), out(rows * columns), means(rows), scales(rows);
  const std::vector<float> bias(columns);
  const ResidualNorm kernel{columns, 1e-12f, bias.data(), norm.data(), bias.data(), dropout};
  kernel.forward(sum.data(), zeros.data(), out.data(), means.data(), scales.data(), rows, first_row);
  return sum;
}

TEST(KernelsTest, DropoutKeepsItsShareAndScalesIt) {
  const std::size_t count = 500 * 333;
  for (const double probability : {0.1, 0.5, 0.9}) {
    const auto ones = dropped_ones(Dropout::with(probability, 7), 500, 333, 0);
    const double mean = std::accumulate(ones.begin(), ones.end(), 0.0) / count;
    const double deviation = std::sqrt(probability / (1 - probability) / count);
    EXPECT_NEAR(mean, 1, 4 * deviation) << probability;
    for (const float one : ones) {
      ASSERT_TRUE(one == 0 || std::abs(one - 1 / (1 - probability)) < 1e-5) << one;
    }
  }
}

TEST(KernelsTest, DropoutDependsOnSeedRowAndColumnAlone) {
  const Dropout dropout = Dropout::with(0.5, 7);
  const auto all = dropped_ones(dropout, 20, 50, 0);
  const auto later = dropped_ones(dropout, 10, 50, 10);
  EXPECT_TRUE(std::equal(later.begin(), later.end(), all.begin() + 500));
  EXPECT_NE(all, dropped_ones(Dropout::with(0.5, 8), 20, 50, 0));
  EXPECT_FALSE(std::equal(all.begin(), all.begin() + 50, all.begin() + 50));
  EXPECT_EQ(dropped_ones(Dropout::with(0, 7), 3, 5, 0), std::vector<float>(15, 1.0f));
}

// Neighbouring columns and rows agree as often as chance says.
TEST(KernelsTest, DropoutIsNotCorrelated) {
  const std::size_t rows = 400;
  const std::size_t columns = 400;
  const auto ones = dropped_ones(Dropout::with(0.5, 1), rows, columns, 0);
  for (const std::size_t distance : {std::size_t{1}, std::size_t{2}, std::size_t{8}, columns, columns + 1}) {
    std::size_t equal = 0;
    const std::size_t pairs = rows * columns - distance;
    for (std::size_t i = 0; i < pairs; ++i) equal += ones[i] == ones[i + distance] ? 1 : 0;
    EXPECT_NEAR(static_cast<double>(equal) / static_cast<double>(pairs), 0.5, 0.01) << distance;
  }
}

double gelu(double x) {
  return x * 0.5 * std::erfc(-x / std::sqrt(2.0));
}

TEST(KernelsTest, GeluIsExactToItsBound) {
  std::vector<float> in;
  for (float x = -9; x <= 9; x += 0.01f) in.push_back(x);
  const std::vector<float> bias(in.size());
  std::vector<float> out(in.size());
  std::vector<float> gradient(in.size(), 1.0f);
  std::vector<float> bias_gradient(in.size());
  const Activate kernel{Function::kGelu, in.size(), bias.data()};
  kernel.forward(in.data(), out.data(), 1);
  for (std::size_t i = 0; i < in.size(); ++i) EXPECT_NEAR(out[i], gelu(in[i]), 1e-6) << in[i];
  std::fill(out.begin(), out.end(), 0.0f);
  kernel.backward(in.data(), gradient.data(), out.data(), bias_gradient.data(), 1);
  for (std::size_t i = 0; i < in.size(); ++i) {
    EXPECT_NEAR(out[i], gelu(in[i]), 1e-6) << in[i];
    const double slope = (gelu(in[i] + 1e-5) - gelu(in[i] - 1e-5)) / 2e-5;
    EXPECT_NEAR(gradient[i], slope, 2e-6) << in[i];
    EXPECT_EQ(bias_gradient[i], gradient[i]);
  }
}

}  // namespace
}  // namespace bert::kernels
