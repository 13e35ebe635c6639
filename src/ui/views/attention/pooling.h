// Attention matrices made small: the largest and the mean weight of each block, as bytes.
//
// A byte b stands for the weight (b / 255)²: small weights, of which there are most, keep their differences. A NaN
// counts as no weight.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace trainwarden::views::attention {

std::uint8_t to_byte(double weight);

// Takes the rows of a matrix one after another and makes `rows` by `columns` blocks of them. A matrix with fewer rows
// or columns than that is stretched.
class BlockPool {
 public:
  BlockPool(std::int64_t matrix_rows, std::int64_t matrix_columns, std::int64_t rows, std::int64_t columns);
  void add(std::int64_t row, std::span<const float> weights);

  // [rows, columns]
  const std::vector<float>& max() const { return max_; }
  std::vector<float> mean() const;
  std::vector<std::uint8_t> max_bytes() const;
  std::vector<std::uint8_t> mean_bytes() const;

 private:
  struct Range {
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };
  static Range block_range(std::int64_t block, std::int64_t blocks, std::int64_t size);
  void pool_columns(std::span<const float> weights);

  std::int64_t matrix_rows_;
  std::int64_t rows_;
  std::int64_t columns_;
  std::vector<Range> column_ranges_;
  std::vector<float> row_max_;  // of the row that is added: [columns]
  std::vector<double> row_sum_;
  std::vector<float> max_;  // [rows, columns]
  std::vector<double> sum_;
};

}  // namespace trainwarden::views::attention
