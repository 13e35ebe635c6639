// Statistics record: the statistics of many tensors at one step, as columns with one row for each tensor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/bytes.h"
#include "trainwarden/dtype.h"
#include "trainwarden/statistics.h"
#include "trainwarden/status.h"
#include "trainwarden/tensor_view.h"

namespace trainwarden::format {

struct StatisticsColumns;

struct StatisticsRow {
  std::uint32_t id = 0;
  DType dtype = DType::kFloat32;
  Shape shape;
  bool shape_only = false;  // no statistics, only dtype and shape were wanted
  Statistics statistics;
  friend bool operator==(const StatisticsRow&, const StatisticsRow&) = default;
};

// Round-trips bit for bit.
std::string encode_statistics(std::span<const StatisticsRow> rows);

// What a record index needs of a row.
struct StatisticsKey {
  std::uint32_t tensor = 0;
  bool shape_only = false;
};

// The payload as a table. Opening it checks it whole; rows are built when asked for. Copies are cheap.
class StatisticsTable {
 public:
  // Copies nothing: `payload` must outlive the table.
  static Result<StatisticsTable> open(ByteSpan payload);

  std::size_t row_count() const { return keys_.size(); }
  std::span<const StatisticsKey> keys() const { return keys_; }
  StatisticsRow row(std::size_t index) const;  // index < row_count()
  std::pair<DType, Shape> shape(std::size_t index) const;

 private:
  StatisticsTable(std::vector<StatisticsKey> keys, std::shared_ptr<const StatisticsColumns> columns);

  std::vector<StatisticsKey> keys_;
  std::shared_ptr<const StatisticsColumns> columns_;
};

}  // namespace trainwarden::format
