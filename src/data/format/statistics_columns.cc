#include "data/format/statistics_columns.h"

#include <algorithm>

#include <fmt/format.h>

#include "data/format/safetensors.h"
#include "trainwarden/dtype.h"
#include "trainwarden/tensor_view.h"

namespace trainwarden::format {
namespace {

namespace names = statistics_layout;

// Limbs of the squares of the largest and the smallest doubles, 2^63 of them, lie well within.
constexpr std::int32_t kFarthestLimb = 64;

Status damaged_statistics(std::string_view column, std::size_t row, std::string_view what) {
  return Status(Code::kDataLoss, fmt::format("statistics: column \"{}\", row {}: {}", column, row, what));
}

// Where the rows' own parts of a flat column start, and after the last one where they end. kDataLoss when that is not
// the end of the column.
template <class T>
Result<std::vector<std::uint64_t>> starts_of(const char* counts_name, const ColumnView<T>& counts, std::size_t per_row,
                                             std::size_t flat_rows) {
  std::vector<std::uint64_t> starts{0};
  starts.reserve(counts.size() / per_row + 1);
  for (std::size_t i = 0; i < counts.size(); i += per_row) {
    std::uint64_t end = starts.back();
    for (std::size_t k = 0; k < per_row; ++k) end += counts[i + k];
    starts.push_back(end);
  }
  if (starts.back() == flat_rows) return starts;
  return Status(Code::kDataLoss, fmt::format("statistics: column \"{}\": {} in all, but {} are there", counts_name,
                                             starts.back(), flat_rows));
}

// Finds columns one after the other and keeps the first error.
class ColumnFinder {
 public:
  explicit ColumnFinder(const ColumnReader& reader) : reader_(reader) {}

  template <class T>
  void find(const char* name, std::size_t rows, ColumnView<T>& view) {
    take(reader_.view<T>(name, rows), view);
  }
  template <class T>
  void find(const char* name, ColumnView<T>& view) {
    take(reader_.view<T>(name), view);
  }
  const Status& status() const { return status_; }

 private:
  template <class T>
  void take(Result<ColumnView<T>> found, ColumnView<T>& view) {
    if (found.ok()) {
      view = *found;
    } else if (status_.ok()) {
      status_ = found.status().with_context("statistics");
    }
  }

  const ColumnReader& reader_;
  Status status_;
};

}  // namespace

Result<StatisticsColumns> StatisticsColumns::find(const ColumnReader& reader) {
  StatisticsColumns columns;
  TRAINWARDEN_RETURN_IF_ERROR(columns.find_views(reader));
  TRAINWARDEN_RETURN_IF_ERROR(columns.find_starts());
  for (std::size_t row = 0; row < columns.tensor.size(); ++row) TRAINWARDEN_RETURN_IF_ERROR(columns.check(row));
  return columns;
}

Status StatisticsColumns::find_views(const ColumnReader& reader) {
  ColumnFinder finder(reader);
  finder.find(names::kTensor, tensor);
  const std::size_t rows = tensor.size();
  const std::size_t sums = rows * names::kSums.size();
  finder.find(names::kDType, rows, dtype);
  finder.find(names::kFlags, rows, flags);
  finder.find(names::kRank, rows, rank);
  for (std::size_t i = 0; i < names::kCounts.size(); ++i) finder.find(names::kCounts[i].name, rows, counts[i]);
  for (std::size_t i = 0; i < names::kLimits.size(); ++i) finder.find(names::kLimits[i].name, rows, limits[i]);
  finder.find(names::kHash, rows, hash);
  if (reader.has(names::kApproximate)) finder.find(names::kApproximate, rows, approximate);
  finder.find(names::kSumNegative, sums, sum_negative);
  finder.find(names::kSumLowestLimb, sums, sum_lowest_limb);
  finder.find(names::kSumLimbCount, sums, sum_limb_count);
  finder.find(names::kBinCount, rows, bin_count);
  finder.find(names::kSizes, sizes);
  finder.find(names::kLimbs, limbs);
  finder.find(names::kBinIndex, bin_index);
  finder.find(names::kBinValue, bin_index.size(), bin_value);
  return finder.status();
}

Status StatisticsColumns::find_starts() {
  TRAINWARDEN_ASSIGN_OR_RETURN(size_starts, starts_of(names::kRank, rank, 1, sizes.size()));
  TRAINWARDEN_ASSIGN_OR_RETURN(limb_starts,
                               starts_of(names::kSumLimbCount, sum_limb_count, names::kSums.size(), limbs.size()));
  TRAINWARDEN_ASSIGN_OR_RETURN(bin_starts, starts_of(names::kBinCount, bin_count, 1, bin_index.size()));
  return Status();
}

std::vector<std::int64_t> StatisticsColumns::sizes_of(std::size_t row) const {
  std::vector<std::int64_t> own;
  own.reserve(rank[row]);
  for (std::uint64_t i = size_starts[row]; i < size_starts[row + 1]; ++i) own.push_back(sizes[i]);
  return own;
}

ExactSum StatisticsColumns::sum(std::size_t row, std::size_t which) const {
  const std::size_t first = row * names::kSums.size();
  std::uint64_t start = limb_starts[row];
  for (std::size_t i = 0; i < which; ++i) start += sum_limb_count[first + i];
  ExactSum sum;
  sum.negative = sum_negative[first + which] != 0;
  sum.lowest_limb = sum_lowest_limb[first + which];
  sum.limbs.reserve(sum_limb_count[first + which]);
  for (std::size_t i = 0; i < sum_limb_count[first + which]; ++i) sum.limbs.push_back(limbs[start + i]);
  return sum;
}

Status StatisticsColumns::check(std::size_t row) const {
  if (!names::known_flags(flags[row])) return damaged_statistics(names::kFlags, row, "unknown flags");
  if (dtype[row] >= kDTypeCount)
    return damaged_statistics(names::kDType, row, fmt::format("unknown dtype {}", dtype[row]));
  TRAINWARDEN_RETURN_IF_ERROR(check_shape(row));
  TRAINWARDEN_RETURN_IF_ERROR(check_counts(row));
  TRAINWARDEN_RETURN_IF_ERROR(check_sums(row));
  return check_histogram(row);
}

Status StatisticsColumns::check_shape(std::size_t row) const {
  if (rank[row] > Shape::kMaxRank) return damaged_statistics(names::kRank, row, fmt::format("a rank of {}", rank[row]));
  if (tensor_bytes(DType::kUInt8, sizes_of(row))) return Status();
  return damaged_statistics(names::kSizes, row, "a negative size, or more elements than can be");
}

Status StatisticsColumns::check_counts(std::size_t row) const {
  std::uint64_t left = counts.front()[row];
  for (std::size_t i = 1; i < counts.size(); ++i) {
    const std::uint64_t part = counts[i][row];
    if (part > left) return damaged_statistics(names::kCounts[i].name, row, "more than the elements");
    left -= part;
  }
  return Status();
}

// Equal sums have equal limbs, so none may begin or end with a zero one.
Status StatisticsColumns::check_sums(std::size_t row) const {
  for (std::size_t which = 0; which < names::kSums.size(); ++which) {
    const std::size_t i = row * names::kSums.size() + which;
    if (sum_negative[i] > 1) return damaged_statistics(names::kSumNegative, row, "neither 0 nor 1");
    const ExactSum exact = sum(row, which);
    if (exact.limbs.empty()) {
      if (!exact.negative && exact.lowest_limb == 0) continue;
      return damaged_statistics(names::kSumLimbCount, row, "a zero with a sign or a place");
    }
    const auto limb_count = static_cast<std::int32_t>(exact.limbs.size());
    if (exact.lowest_limb < -kFarthestLimb || exact.lowest_limb > kFarthestLimb - limb_count) {
      return damaged_statistics(names::kSumLowestLimb, row, fmt::format("{} is out of range", exact.lowest_limb));
    }
    if (exact.limbs.front() == 0 || exact.limbs.back() == 0)
      return damaged_statistics(names::kLimbs, row, "a zero at an end");
  }
  return Status();
}

Status StatisticsColumns::check_histogram(std::size_t row) const {
  const bool has_histogram = (flags[row] & names::kHasHistogram) != 0;
  if (bin_count[row] != 0 && !has_histogram) return damaged_statistics(names::kBinCount, row, "bins without the flag");
  int previous = -1;
  for (std::uint64_t i = bin_starts[row]; i < bin_starts[row + 1]; ++i) {
    const int index = bin_index[i];
    if (index <= previous || index >= Histogram::kBinCount)
      return damaged_statistics(names::kBinIndex, row, "bins out of order");
    if (bin_value[i] == 0) return damaged_statistics(names::kBinValue, row, "an empty bin");
    previous = index;
  }
  return Status();
}

}  // namespace trainwarden::format
