#include "data/tensor/dot_products.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace trainwarden {
namespace {

TEST(DotProducts, EqualSumsInDoubleForEachLengthAndCount) {
  for (std::size_t length = 0; length <= 67; ++length) {
    for (const std::size_t count : {1U, 3U, 4U, 9U}) {
      std::vector<float> vector(length);
      std::vector<float> rows(length * count);
      for (std::size_t i = 0; i < length; ++i) vector[i] = static_cast<float>(std::sin(static_cast<double>(i)));
      for (std::size_t i = 0; i < rows.size(); ++i)
        rows[i] = static_cast<float>(std::cos(3.0 * static_cast<double>(i)));
      std::vector<float> products(count, -1);
      dot_products(vector, rows, products);
      for (std::size_t row = 0; row < count; ++row) {
        double expected = 0;
        for (std::size_t i = 0; i < length; ++i) {
          expected += static_cast<double>(vector[i]) * static_cast<double>(rows[row * length + i]);
        }
        EXPECT_NEAR(products[row], expected, 1e-5) << length << " numbers, row " << row;
      }
    }
  }
}

TEST(DotProducts, PassesOnWhatIsNoNumber) {
  const std::vector<float> vector(20, 1.0F);
  std::vector<float> rows(40, 1.0F);
  rows[33] = std::nanf("");
  std::vector<float> products(2);
  dot_products(vector, rows, products);
  EXPECT_EQ(products[0], 20.0F);
  EXPECT_TRUE(std::isnan(products[1]));
}

}  // namespace
}  // namespace trainwarden
