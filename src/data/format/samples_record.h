// Samples record: metrics over time, sampled at ticks that they share, as columns.
//
// Integers, and numbers with few decimals, are stored as their differences in the narrowest type that holds them; what
// does not change takes no room at all. A sample that is missing is left out, never written as 0.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "data/format/columns.h"
#include "trainwarden/metric.h"
#include "trainwarden/status.h"

namespace trainwarden::format {

// Metrics times ticks in one frame, at most.
inline constexpr std::uint64_t kMaxSamplesInFrame = 1 << 18;

// One metric over the ticks of its table.
struct SampleSeries {
  std::uint32_t metric = 0;  // id
  std::vector<double> values;
  std::vector<bool> present{};  // of each tick; empty: at all of them. `values` has no place for the others
  friend bool operator==(const SampleSeries&, const SampleSeries&) = default;
};

// Metrics that were sampled together.
struct SampleTable {
  std::vector<std::int64_t> ticks;   // nanoseconds since 1970, UTC; rising
  std::vector<SampleSeries> series;  // each metric once, with one value at least
};

// kInvalidArgument when the table is not what it must be: ticks that do not rise, a metric twice, another number of
// values than ticks, more than kMaxSamplesInFrame.
Status check_samples(const SampleTable& table);
// Of a table that is as it must be.
std::string encode_samples(const SampleTable& table);

// Reads a payload in place, which must outlive it.
class SampleTableReader {
 public:
  // Checks everything. kDataLoss.
  static Result<SampleTableReader> open(ByteSpan payload);

  std::int64_t first_unix_ns() const { return ticks_[0]; }
  std::int64_t last_unix_ns() const { return ticks_[ticks_.size() - 1]; }
  std::size_t series_count() const { return series_.size(); }
  std::uint32_t metric(std::size_t series) const { return series_[series].metric; }

  // Appends the samples of the series that lie in [from, to), in rising order.
  void read(std::size_t series, std::int64_t from_unix_ns, std::int64_t to_unix_ns, std::vector<Sample>& samples) const;

 private:
  struct Series {
    std::uint32_t metric = 0;
    std::uint8_t encoding = 0;
    std::uint8_t decimals = 0;
    bool sparse = false;
    double first = 0;
    std::size_t count = 0;         // samples
    std::size_t first_row = 0;     // in the column of its encoding
    std::size_t first_bitmap = 0;  // in `present`
  };

  Status read_columns(const ColumnReader& columns);
  Status read_series(const ColumnReader& columns);
  Status check_ticks() const;
  Status place_series();
  Result<std::size_t> count_present(std::size_t first_bitmap) const;
  bool present_at(const Series& series, std::size_t tick) const;
  double value_of(const Series& series, std::size_t number, std::int64_t& integer) const;

  ColumnView<std::int64_t> ticks_;
  ColumnView<std::uint8_t> present_;
  ColumnView<std::int8_t> delta8_;
  ColumnView<std::int16_t> delta16_;
  ColumnView<std::int32_t> delta32_;
  ColumnView<double> values_;
  std::vector<Series> series_;
};

}  // namespace trainwarden::format
