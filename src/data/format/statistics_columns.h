// StatisticsColumns: the columns of a statistics record found and checked, to build rows from.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/format/columns.h"
#include "data/format/statistics_layout.h"
#include "trainwarden/statistics.h"
#include "trainwarden/status.h"

namespace trainwarden::format {

// Views into the payload: it must outlive them.
struct StatisticsColumns {
  static Result<StatisticsColumns> find(const ColumnReader& reader);  // and check all rows

  std::vector<std::int64_t> sizes_of(std::size_t row) const;  // of the shape
  ExactSum sum(std::size_t row, std::size_t which) const;     // statistics_layout::kSums[which]

  // One row for each tensor, for the sums three.
  ColumnView<std::uint32_t> tensor;
  ColumnView<std::uint8_t> dtype, flags, rank;
  std::array<ColumnView<std::uint64_t>, statistics_layout::kCounts.size()> counts;
  std::array<ColumnView<double>, statistics_layout::kLimits.size()> limits;
  ColumnView<std::uint64_t> hash;
  ColumnView<std::uint8_t> approximate;  // may be empty: no row is
  ColumnView<std::uint8_t> sum_negative, sum_limb_count;
  ColumnView<std::int32_t> sum_lowest_limb;
  ColumnView<std::uint16_t> bin_count;

  // Flat: the parts of all rows one after the other.
  ColumnView<std::int64_t> sizes;
  ColumnView<std::uint64_t> limbs;
  ColumnView<std::uint16_t> bin_index;
  ColumnView<std::uint64_t> bin_value;
  // Where each row's part starts, and after the last one where it ends.
  std::vector<std::uint64_t> size_starts, limb_starts, bin_starts;

 private:
  Status find_views(const ColumnReader& reader);
  Status find_starts();
  Status check(std::size_t row) const;
  Status check_shape(std::size_t row) const;
  Status check_counts(std::size_t row) const;
  Status check_sums(std::size_t row) const;
  Status check_histogram(std::size_t row) const;
};

}  // namespace trainwarden::format
