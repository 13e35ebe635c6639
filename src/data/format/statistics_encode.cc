// Writing of statistics records; reading is in statistics_decode.cc.
#include <algorithm>

#include "data/format/columns.h"
#include "data/format/statistics_layout.h"
#include "data/format/statistics_record.h"

namespace trainwarden::format {
namespace {

namespace names = statistics_layout;

// One value for each row.
template <class Read>
auto gather(std::span<const StatisticsRow> rows, Read read) {
  std::vector<decltype(read(rows.front()))> values;
  values.reserve(rows.size());
  for (const StatisticsRow& row : rows) values.push_back(read(row));
  return values;
}

std::uint8_t flags_of(const StatisticsRow& row) {
  if (row.shape_only) return 0;
  std::uint8_t flags = names::kHasStatistics;
  if (row.statistics.has_histogram) flags |= names::kHasHistogram;
  if (row.statistics.has_hash) flags |= names::kHasHash;
  return flags;
}

std::size_t bin_count(const StatisticsRow& row) {
  return (flags_of(row) & names::kHasHistogram) != 0 ? row.statistics.histogram.bins.size() : 0;
}

void add_keys(ColumnWriter& columns, std::span<const StatisticsRow> rows) {
  columns.add(names::kTensor, gather(rows, [](const StatisticsRow& row) { return row.id; }));
  columns.add(names::kDType,
              gather(rows, [](const StatisticsRow& row) { return static_cast<std::uint8_t>(row.dtype); }));
  columns.add(names::kFlags, gather(rows, flags_of));
}

void add_shapes(ColumnWriter& columns, std::span<const StatisticsRow> rows) {
  columns.add(names::kRank,
              gather(rows, [](const StatisticsRow& row) { return static_cast<std::uint8_t>(row.shape.rank()); }));
  std::vector<std::int64_t> sizes;
  for (const StatisticsRow& row : rows) sizes.insert(sizes.end(), row.shape.sizes().begin(), row.shape.sizes().end());
  columns.add(names::kSizes, sizes);
}

void add_numbers(ColumnWriter& columns, std::span<const StatisticsRow> rows) {
  for (const auto& count : names::kCounts) {
    columns.add(count.name, gather(rows, [&](const StatisticsRow& row) { return row.statistics.*count.field; }));
  }
  for (const auto& limit : names::kLimits) {
    columns.add(limit.name, gather(rows, [&](const StatisticsRow& row) { return row.statistics.*limit.field; }));
  }
  for (const auto& rounded : names::kRounded) {
    columns.add(rounded.name, gather(rows, [&](const StatisticsRow& row) { return rounded.compute(row.statistics); }));
  }
  columns.add(names::kHash, gather(rows, [](const StatisticsRow& row) { return row.statistics.hash; }));
}

// A reader from before this column does not look for it, and has the numbers all the same.
void add_approximate(ColumnWriter& columns, std::span<const StatisticsRow> rows) {
  const auto is_approximate = [](const StatisticsRow& row) {
    return static_cast<std::uint8_t>(!row.shape_only && row.statistics.approximate ? 1 : 0);
  };
  if (std::none_of(rows.begin(), rows.end(), is_approximate)) return;
  columns.add(names::kApproximate, gather(rows, is_approximate));
}

void add_exact_sums(ColumnWriter& columns, std::span<const StatisticsRow> rows) {
  std::vector<std::uint8_t> negative, limb_count;
  std::vector<std::int32_t> lowest_limb;
  std::vector<std::uint64_t> limbs;
  for (const StatisticsRow& row : rows) {
    for (const auto field : names::kSums) {
      const ExactSum& sum = row.statistics.*field;
      negative.push_back(sum.negative ? 1 : 0);
      lowest_limb.push_back(sum.lowest_limb);
      limb_count.push_back(static_cast<std::uint8_t>(sum.limbs.size()));
      limbs.insert(limbs.end(), sum.limbs.begin(), sum.limbs.end());
    }
  }
  columns.add(names::kSumNegative, negative);
  columns.add(names::kSumLowestLimb, lowest_limb);
  columns.add(names::kSumLimbCount, limb_count);
  columns.add(names::kLimbs, limbs);
}

void add_histograms(ColumnWriter& columns, std::span<const StatisticsRow> rows) {
  std::vector<std::uint16_t> index;
  std::vector<std::uint64_t> count;
  for (const StatisticsRow& row : rows) {
    if (bin_count(row) == 0) continue;
    for (const Histogram::Bin& bin : row.statistics.histogram.bins) {
      index.push_back(bin.index);
      count.push_back(bin.count);
    }
  }
  columns.add(names::kBinCount,
              gather(rows, [](const StatisticsRow& row) { return static_cast<std::uint16_t>(bin_count(row)); }));
  columns.add(names::kBinIndex, index);
  columns.add(names::kBinValue, count);
}

}  // namespace

std::string encode_statistics(std::span<const StatisticsRow> rows) {
  ColumnWriter columns;
  add_keys(columns, rows);
  add_shapes(columns, rows);
  add_numbers(columns, rows);
  add_approximate(columns, rows);
  add_exact_sums(columns, rows);
  add_histograms(columns, rows);
  return columns.finish();
}

}  // namespace trainwarden::format
