#include "ui/views/attention/pooling.h"

#include <algorithm>
#include <cmath>

namespace trainwarden::views::attention {

std::uint8_t to_byte(double weight) {
  if (!(weight > 0)) return 0;
  return static_cast<std::uint8_t>(std::lround(255 * std::sqrt(std::min(weight, 1.0))));
}

// Block `block` of `blocks` over `size` places: they share the places out, or each has one when there are too few.
BlockPool::Range BlockPool::block_range(std::int64_t block, std::int64_t blocks, std::int64_t size) {
  const std::int64_t begin = block * size / blocks;
  return {begin, std::max(begin + 1, (block + 1) * size / blocks)};
}

BlockPool::BlockPool(std::int64_t matrix_rows, std::int64_t matrix_columns, std::int64_t rows, std::int64_t columns)
    : matrix_rows_(matrix_rows), rows_(rows), columns_(columns) {
  for (std::int64_t column = 0; column < columns; ++column) {
    column_ranges_.push_back(block_range(column, columns, matrix_columns));
  }
  row_max_.resize(static_cast<std::size_t>(columns));
  row_sum_.resize(static_cast<std::size_t>(columns));
  max_.resize(static_cast<std::size_t>(rows * columns));
  sum_.resize(static_cast<std::size_t>(rows * columns));
}

void BlockPool::pool_columns(std::span<const float> weights) {
  for (std::size_t column = 0; column < column_ranges_.size(); ++column) {
    const Range range = column_ranges_[column];
    float most = 0;
    double sum = 0;
    for (std::int64_t key = range.begin; key < range.end; ++key) {
      const float weight = weights[static_cast<std::size_t>(key)];
      if (!(weight > 0)) continue;  // NaN too
      most = std::max(most, weight);
      sum += static_cast<double>(weight);
    }
    row_max_[column] = most;
    row_sum_[column] = sum;
  }
}

void BlockPool::add(std::int64_t row, std::span<const float> weights) {
  pool_columns(weights);
  // The first and the last block that the row is part of; when blocks are more than rows it is part of several.
  std::int64_t block = std::min(rows_ - 1, row * rows_ / matrix_rows_);
  while (block > 0 && block_range(block - 1, rows_, matrix_rows_).end > row) --block;
  for (; block < rows_ && block_range(block, rows_, matrix_rows_).begin <= row; ++block) {
    if (block_range(block, rows_, matrix_rows_).end <= row) continue;
    const auto begin = static_cast<std::size_t>(block * columns_);
    for (std::size_t column = 0; column < row_max_.size(); ++column) {
      max_[begin + column] = std::max(max_[begin + column], row_max_[column]);
      sum_[begin + column] += row_sum_[column];
    }
  }
}

std::vector<float> BlockPool::mean() const {
  std::vector<float> mean(sum_.size());
  for (std::int64_t row = 0; row < rows_; ++row) {
    const Range rows = block_range(row, rows_, matrix_rows_);
    for (std::int64_t column = 0; column < columns_; ++column) {
      const Range columns = column_ranges_[static_cast<std::size_t>(column)];
      const auto cells = static_cast<double>((rows.end - rows.begin) * (columns.end - columns.begin));
      const auto at = static_cast<std::size_t>(row * columns_ + column);
      mean[at] = static_cast<float>(sum_[at] / cells);
    }
  }
  return mean;
}

std::vector<std::uint8_t> BlockPool::max_bytes() const {
  std::vector<std::uint8_t> bytes(max_.size());
  std::transform(max_.begin(), max_.end(), bytes.begin(), [](float weight) { return to_byte(weight); });
  return bytes;
}

std::vector<std::uint8_t> BlockPool::mean_bytes() const {
  const std::vector<float> means = mean();
  std::vector<std::uint8_t> bytes(means.size());
  std::transform(means.begin(), means.end(), bytes.begin(), [](float weight) { return to_byte(weight); });
  return bytes;
}

}  // namespace trainwarden::views::attention
