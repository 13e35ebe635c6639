#include "ui/views/attention/pooling.h"

#include <cmath>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

namespace trainwarden::views::attention {
namespace {

using Floats = std::vector<float>;

TEST(ToByte, KeepsTheDifferencesOfSmallWeights) {
  EXPECT_EQ(to_byte(0), 0);
  EXPECT_EQ(to_byte(1), 255);
  EXPECT_EQ(to_byte(2), 255);
  EXPECT_EQ(to_byte(0.25), 128);
  EXPECT_EQ(to_byte(std::nan("")), 0);
  EXPECT_EQ(to_byte(-1), 0);
  EXPECT_NE(to_byte(0.001), to_byte(0.0005));
}

TEST(BlockPool, TakesTheLargestAndTheMeanOfBlocks) {
  BlockPool pool(4, 4, 2, 2);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  pool.add(0, Floats{1, 0, 0, 0});
  pool.add(1, Floats{0, 0, 0, 0.5F});
  pool.add(2, Floats{0, 0.25F, nan, 0});
  pool.add(3, Floats{0.25F, 0, 0, 0});
  EXPECT_EQ(pool.max(), (Floats{1, 0.5F, 0.25F, 0}));
  EXPECT_EQ(pool.mean(), (Floats{0.25F, 0.125F, 0.125F, 0}));
  EXPECT_EQ(pool.max_bytes()[0], 255);
}

TEST(BlockPool, LosesNothingWhenSizesDoNotDivide) {
  constexpr std::int64_t kRows = 13;
  constexpr std::int64_t kColumns = 7;
  BlockPool pool(kRows, kColumns, 5, 3);
  double total = 0;
  for (std::int64_t row = 0; row < kRows; ++row) {
    Floats weights(kColumns);
    for (std::size_t column = 0; column < kColumns; ++column) {
      weights[column] = static_cast<float>(row * kColumns + static_cast<std::int64_t>(column) + 1) / 100;
      total += static_cast<double>(weights[column]);
    }
    pool.add(row, weights);
  }
  EXPECT_FLOAT_EQ(pool.max().back(), 0.91F);
  double seen = 0;
  const Floats mean = pool.mean();
  for (std::int64_t row = 0; row < 5; ++row) {
    for (std::int64_t column = 0; column < 3; ++column) {
      const auto rows = (row + 1) * kRows / 5 - row * kRows / 5;
      const auto columns = (column + 1) * kColumns / 3 - column * kColumns / 3;
      seen +=
          static_cast<double>(mean[static_cast<std::size_t>(row * 3 + column)]) * static_cast<double>(rows * columns);
    }
  }
  EXPECT_NEAR(seen, total, 1e-5);
}

TEST(BlockPool, StretchesWhatIsSmallerThanThePicture) {
  BlockPool pool(2, 2, 4, 4);
  pool.add(0, Floats{1, 0});
  pool.add(1, Floats{0, 0.5F});
  EXPECT_EQ(pool.max(), (Floats{1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0.5F, 0.5F, 0, 0, 0.5F, 0.5F}));
  EXPECT_EQ(pool.mean(), pool.max());
}

}  // namespace
}  // namespace trainwarden::views::attention
