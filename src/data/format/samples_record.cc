#include "data/format/samples_record.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <unordered_set>

#include <fmt/format.h>

namespace trainwarden::format {
namespace {

// How the values of a series that come after its first are stored. The numbers go to disk.
enum SampleEncoding : std::uint8_t {
  kSameAsFirst = 0,  // not at all: they equal it
  kDelta8 = 1,       // the difference to the value before, in units of 10^-decimals
  kDelta16 = 2,
  kDelta32 = 3,
  kPlain = 4,  // the value itself
};
constexpr std::uint8_t kEncodingCount = 5;

constexpr std::array<double, 10> kPowersOf10 = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};  // by decimals
constexpr double kLargestInteger = 9007199254740992;  // 2^53: a double holds every one up to it
constexpr std::size_t kTicksPerByte = 8;

bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

// The value in units of 10^-decimals; none when the way back would not lead to the same bits.
std::optional<std::int64_t> to_integer(double value, std::uint8_t decimals) {
  const double scaled = value * kPowersOf10[decimals];
  if (!(std::abs(scaled) <= kLargestInteger)) return std::nullopt;
  const std::int64_t integer = std::llround(scaled);
  if (!same_bits(static_cast<double>(integer) / kPowersOf10[decimals], value)) return std::nullopt;
  return integer;
}

std::size_t bitmap_bytes(std::size_t ticks) {
  return (ticks + kTicksPerByte - 1) / kTicksPerByte;
}

struct SeriesForm {
  SampleEncoding encoding = kPlain;
  std::uint8_t decimals = 0;
  std::vector<std::int64_t> deltas{};
};

// The differences in units of 10^-decimals, when all values are whole numbers of these.
std::optional<std::vector<std::int64_t>> deltas_of(const std::vector<double>& values, std::uint8_t decimals) {
  std::vector<std::int64_t> deltas;
  deltas.reserve(values.size());
  std::int64_t before = 0;
  for (const double value : values) {
    const auto integer = to_integer(value, decimals);
    if (!integer) return std::nullopt;
    deltas.push_back(*integer - before);
    before = *integer;
  }
  deltas.erase(deltas.begin());  // the first value is stored as itself
  return deltas;
}

template <class T>
bool all_fit(const std::vector<std::int64_t>& deltas) {
  return std::all_of(deltas.begin(), deltas.end(), [](std::int64_t delta) {
    return delta >= std::numeric_limits<T>::min() && delta <= std::numeric_limits<T>::max();
  });
}

SeriesForm form_of(const std::vector<double>& values) {
  const auto same = [&](double value) { return same_bits(value, values.front()); };
  if (std::all_of(values.begin(), values.end(), same)) return {kSameAsFirst};
  for (std::uint8_t decimals = 0; decimals < kPowersOf10.size(); ++decimals) {
    auto deltas = deltas_of(values, decimals);
    if (!deltas) continue;
    if (all_fit<std::int8_t>(*deltas)) return {kDelta8, decimals, *std::move(deltas)};
    if (all_fit<std::int16_t>(*deltas)) return {kDelta16, decimals, *std::move(deltas)};
    if (all_fit<std::int32_t>(*deltas)) return {kDelta32, decimals, *std::move(deltas)};
    return {kPlain};
  }
  return {kPlain};
}

class SampleEncoder {
 public:
  explicit SampleEncoder(const SampleTable& table) : table_(table) {}

  std::string encode() {
    for (const SampleSeries& series : table_.series) add(series);
    ColumnWriter columns;
    columns.add("tick", table_.ticks);
    columns.add("metric", metrics_);
    columns.add("first", firsts_);
    columns.add("encoding", encodings_);
    columns.add("decimals", decimals_);
    columns.add("sparse", sparse_);
    if (!present_.empty()) columns.add("present", present_);
    if (!delta8_.empty()) columns.add("delta8", delta8_);
    if (!delta16_.empty()) columns.add("delta16", delta16_);
    if (!delta32_.empty()) columns.add("delta32", delta32_);
    if (!values_.empty()) columns.add("value", values_);
    return columns.finish();
  }

 private:
  void add(const SampleSeries& series) {
    const SeriesForm form = form_of(series.values);
    metrics_.push_back(series.metric);
    firsts_.push_back(series.values.front());
    encodings_.push_back(form.encoding);
    decimals_.push_back(form.decimals);
    sparse_.push_back(series.present.empty() ? 0 : 1);
    add_present(series.present);
    for (const std::int64_t delta : form.deltas) {
      if (form.encoding == kDelta8) delta8_.push_back(static_cast<std::int8_t>(delta));
      if (form.encoding == kDelta16) delta16_.push_back(static_cast<std::int16_t>(delta));
      if (form.encoding == kDelta32) delta32_.push_back(static_cast<std::int32_t>(delta));
    }
    if (form.encoding == kPlain) values_.insert(values_.end(), series.values.begin() + 1, series.values.end());
  }

  void add_present(const std::vector<bool>& present) {
    if (present.empty()) return;
    const std::size_t start = present_.size();
    present_.resize(start + bitmap_bytes(present.size()));
    for (std::size_t tick = 0; tick < present.size(); ++tick) {
      if (!present[tick]) continue;
      std::uint8_t& byte = present_[start + tick / kTicksPerByte];
      byte = static_cast<std::uint8_t>(byte | 1u << tick % kTicksPerByte);
    }
  }

  const SampleTable& table_;
  std::vector<std::uint32_t> metrics_;
  std::vector<double> firsts_;
  std::vector<std::uint8_t> encodings_;
  std::vector<std::uint8_t> decimals_;
  std::vector<std::uint8_t> sparse_;
  std::vector<std::uint8_t> present_;
  std::vector<std::int8_t> delta8_;
  std::vector<std::int16_t> delta16_;
  std::vector<std::int32_t> delta32_;
  std::vector<double> values_;
};

Status bad_samples(Code code, std::string_view what) {
  return Status(code, fmt::format("samples: {}", what));
}

Status check_series(const SampleTable& table, const SampleSeries& series) {
  const auto present = static_cast<std::size_t>(std::count(series.present.begin(), series.present.end(), true));
  const std::size_t expected = series.present.empty() ? table.ticks.size() : present;
  if (!series.present.empty() && series.present.size() != table.ticks.size()) {
    return bad_samples(Code::kInvalidArgument,
                       fmt::format("metric {} says of {} ticks whether they are present, not {}", series.metric,
                                   series.present.size(), table.ticks.size()));
  }
  if (series.values.size() == expected && expected > 0) return Status();
  return bad_samples(Code::kInvalidArgument, fmt::format("metric {} has {} values, expected {}", series.metric,
                                                         series.values.size(), std::max<std::size_t>(expected, 1)));
}

}  // namespace

Status check_samples(const SampleTable& table) {
  if (table.ticks.empty() || table.series.empty()) return bad_samples(Code::kInvalidArgument, "there are none");
  if (table.series.size() > kMaxSamplesInFrame / table.ticks.size()) {
    return bad_samples(Code::kInvalidArgument,
                       fmt::format("{} metrics at {} ticks are more than {} samples in a table", table.series.size(),
                                   table.ticks.size(), kMaxSamplesInFrame));
  }
  if (std::adjacent_find(table.ticks.begin(), table.ticks.end(), std::greater_equal<>()) != table.ticks.end()) {
    return bad_samples(Code::kInvalidArgument, "the ticks do not rise");
  }
  std::unordered_set<std::uint32_t> metrics;
  for (const SampleSeries& series : table.series) {
    TRAINWARDEN_RETURN_IF_ERROR(check_series(table, series));
    if (metrics.insert(series.metric).second) continue;
    return bad_samples(Code::kInvalidArgument, fmt::format("metric {} is there twice", series.metric));
  }
  return Status();
}

std::string encode_samples(const SampleTable& table) {
  return SampleEncoder(table).encode();
}

Result<SampleTableReader> SampleTableReader::open(ByteSpan payload) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const ColumnReader columns, ColumnReader::open(payload));
  SampleTableReader reader;
  TRAINWARDEN_RETURN_IF_ERROR(reader.read_columns(columns));
  TRAINWARDEN_RETURN_IF_ERROR(reader.check_ticks());
  TRAINWARDEN_RETURN_IF_ERROR(reader.read_series(columns));
  TRAINWARDEN_RETURN_IF_ERROR(reader.place_series());
  return reader;
}

Status SampleTableReader::read_columns(const ColumnReader& columns) {
  TRAINWARDEN_ASSIGN_OR_RETURN(ticks_, columns.view<std::int64_t>("tick"));
  TRAINWARDEN_ASSIGN_OR_RETURN(present_, columns.view_if_there<std::uint8_t>("present"));
  TRAINWARDEN_ASSIGN_OR_RETURN(delta8_, columns.view_if_there<std::int8_t>("delta8"));
  TRAINWARDEN_ASSIGN_OR_RETURN(delta16_, columns.view_if_there<std::int16_t>("delta16"));
  TRAINWARDEN_ASSIGN_OR_RETURN(delta32_, columns.view_if_there<std::int32_t>("delta32"));
  TRAINWARDEN_ASSIGN_OR_RETURN(values_, columns.view_if_there<double>("value"));
  return Status();
}

Status SampleTableReader::check_ticks() const {
  if (ticks_.size() == 0) return bad_samples(Code::kDataLoss, "column \"tick\" is empty");
  for (std::size_t i = 1; i < ticks_.size(); ++i) {
    if (ticks_[i] <= ticks_[i - 1]) return bad_samples(Code::kDataLoss, "column \"tick\" does not rise");
  }
  return Status();
}

Status SampleTableReader::read_series(const ColumnReader& columns) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto metrics, columns.view<std::uint32_t>("metric"));
  const std::size_t count = metrics.size();
  if (count == 0 || count > kMaxSamplesInFrame / ticks_.size()) {
    return bad_samples(Code::kDataLoss, fmt::format("{} metrics at {} ticks, expected 1 to {} samples", count,
                                                    ticks_.size(), kMaxSamplesInFrame));
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto firsts, columns.view<double>("first", count));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto encodings, columns.view<std::uint8_t>("encoding", count));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto decimals, columns.view<std::uint8_t>("decimals", count));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto sparse, columns.view<std::uint8_t>("sparse", count));
  series_.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const bool known = encodings[i] < kEncodingCount && decimals[i] < kPowersOf10.size() && sparse[i] <= 1;
    if (!known) return bad_samples(Code::kDataLoss, fmt::format("series {} is encoded in a way that is not known", i));
    series_[i].metric = metrics[i];
    series_[i].first = firsts[i];
    series_[i].encoding = encodings[i];
    series_[i].decimals = decimals[i];
    series_[i].sparse = sparse[i] == 1;
  }
  return Status();
}

// Where each series lies in the columns that all share, which must have just these rows.
Status SampleTableReader::place_series() {
  std::array<std::size_t, kEncodingCount> taken{};
  std::size_t taken_bitmaps = 0;
  for (Series& series : series_) {
    series.count = ticks_.size();
    if (series.sparse) {
      series.first_bitmap = taken_bitmaps;
      TRAINWARDEN_ASSIGN_OR_RETURN(series.count, count_present(series.first_bitmap));
      taken_bitmaps += bitmap_bytes(ticks_.size());
    }
    const bool integers = series.encoding >= kDelta8 && series.encoding <= kDelta32;
    if (integers && !to_integer(series.first, series.decimals)) {
      return bad_samples(Code::kDataLoss, fmt::format("metric {}: the first value is no integer", series.metric));
    }
    series.first_row = taken[series.encoding];
    taken[series.encoding] += series.count - 1;
  }
  const bool whole = taken_bitmaps == present_.size() && taken[kDelta8] == delta8_.size() &&
                     taken[kDelta16] == delta16_.size() && taken[kDelta32] == delta32_.size() &&
                     taken[kPlain] == values_.size();
  return whole ? Status() : bad_samples(Code::kDataLoss, "the columns have other rows than the series need");
}

Result<std::size_t> SampleTableReader::count_present(std::size_t first_bitmap) const {
  const std::size_t bytes = bitmap_bytes(ticks_.size());
  if (first_bitmap + bytes > present_.size()) return bad_samples(Code::kDataLoss, "column \"present\" is too short");
  std::size_t count = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    count += static_cast<std::size_t>(std::popcount(present_[first_bitmap + i]));
  }
  const std::size_t last_bits = ticks_.size() % kTicksPerByte;
  const bool beyond = last_bits != 0 && present_[first_bitmap + bytes - 1] >> last_bits != 0;
  if (count == 0 || beyond) return bad_samples(Code::kDataLoss, "column \"present\" does not fit the ticks");
  return count;
}

bool SampleTableReader::present_at(const Series& series, std::size_t tick) const {
  if (!series.sparse) return true;
  return (present_[series.first_bitmap + tick / kTicksPerByte] >> tick % kTicksPerByte & 1) != 0;
}

// `integer` is the value before in units of 10^-decimals.
double SampleTableReader::value_of(const Series& series, std::size_t number, std::int64_t& integer) const {
  if (number == 0 || series.encoding == kSameAsFirst) return series.first;
  const std::size_t row = series.first_row + number - 1;
  if (series.encoding == kPlain) return values_[row];
  if (series.encoding == kDelta8) integer += delta8_[row];
  if (series.encoding == kDelta16) integer += delta16_[row];
  if (series.encoding == kDelta32) integer += delta32_[row];
  return static_cast<double>(integer) / kPowersOf10[series.decimals];
}

void SampleTableReader::read(std::size_t index, std::int64_t from_unix_ns, std::int64_t to_unix_ns,
                             std::vector<Sample>& samples) const {
  const Series& series = series_[index];
  std::int64_t integer = to_integer(series.first, series.decimals).value_or(0);
  std::size_t number = 0;
  for (std::size_t tick = 0; tick < ticks_.size() && ticks_[tick] < to_unix_ns; ++tick) {
    if (!present_at(series, tick)) continue;
    const double value = value_of(series, number++, integer);
    if (ticks_[tick] >= from_unix_ns) samples.push_back({ticks_[tick], value});
  }
}

}  // namespace trainwarden::format
