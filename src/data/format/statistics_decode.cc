// Reading of statistics records; writing is in statistics_encode.cc.
#include <tuple>

#include "data/format/columns.h"
#include "data/format/statistics_columns.h"
#include "data/format/statistics_record.h"

namespace trainwarden::format {
namespace {

namespace names = statistics_layout;

}  // namespace

StatisticsTable::StatisticsTable(std::vector<StatisticsKey> keys, std::shared_ptr<const StatisticsColumns> columns)
    : keys_(std::move(keys)), columns_(std::move(columns)) {}

Result<StatisticsTable> StatisticsTable::open(ByteSpan payload) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const ColumnReader reader, ColumnReader::open(payload));
  TRAINWARDEN_ASSIGN_OR_RETURN(StatisticsColumns found, StatisticsColumns::find(reader));
  auto columns = std::make_shared<const StatisticsColumns>(std::move(found));
  std::vector<StatisticsKey> keys(columns->tensor.size());
  for (std::size_t row = 0; row < keys.size(); ++row) {
    keys[row] = {columns->tensor[row], columns->flags[row] == 0};
  }
  return StatisticsTable(std::move(keys), std::move(columns));
}

std::pair<DType, Shape> StatisticsTable::shape(std::size_t index) const {
  return {static_cast<DType>(columns_->dtype[index]), Shape::from(columns_->sizes_of(index)).value_or(Shape())};
}

StatisticsRow StatisticsTable::row(std::size_t index) const {
  const StatisticsColumns& columns = *columns_;
  StatisticsRow row;
  row.id = keys_[index].tensor;
  row.shape_only = keys_[index].shape_only;
  std::tie(row.dtype, row.shape) = shape(index);
  if (row.shape_only) return row;

  Statistics& statistics = row.statistics;
  for (std::size_t i = 0; i < names::kCounts.size(); ++i) {
    statistics.*names::kCounts[i].field = columns.counts[i][index];
  }
  for (std::size_t i = 0; i < names::kLimits.size(); ++i) {
    statistics.*names::kLimits[i].field = columns.limits[i][index];
  }
  for (std::size_t i = 0; i < names::kSums.size(); ++i) statistics.*names::kSums[i] = columns.sum(index, i);
  statistics.has_hash = (columns.flags[index] & names::kHasHash) != 0;
  statistics.hash = columns.hash[index];
  statistics.approximate = columns.approximate.size() > 0 && columns.approximate[index] != 0;
  statistics.has_histogram = (columns.flags[index] & names::kHasHistogram) != 0;
  for (std::uint64_t i = columns.bin_starts[index]; i < columns.bin_starts[index + 1]; ++i) {
    statistics.histogram.bins.push_back({columns.bin_index[i], columns.bin_value[i]});
  }
  return row;
}

}  // namespace trainwarden::format
