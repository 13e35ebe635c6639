// Output report: what was read of a program's output so far, and what could not be. An event in the journal of the
// metrics that were found there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/format/json.h"
#include "trainwarden/status.h"

namespace trainwarden::format {

// Metrics of one report. A log is untrusted: what it calls a metric may be anything.
inline constexpr std::size_t kMaxReportedMetrics = 256;

// All counts are since the reading began.
struct OutputMetricCount {
  std::string name;
  std::uint64_t values = 0;        // that were found
  std::uint64_t duplicates = 0;    // of these, left out: the same again too soon
  std::uint64_t parse_errors = 0;  // matches that are no number
  std::string first_unreadable;    // the text of the first of these
  std::uint64_t given_up = 0;      // records on which the search would have taken too long
  friend bool operator==(const OutputMetricCount&, const OutputMetricCount&) = default;
};

struct OutputReport {
  std::int64_t began_unix_ns = 0;  // tells one reading (an attempt) from the next
  std::string file;                // that was read
  std::uint64_t bytes = 0;
  std::uint64_t records = 0;
  std::uint64_t cut_records = 0;  // longer than is read of one
  std::uint64_t restarts = 0;     // the file became shorter: it was read from its beginning again
  std::uint64_t lost_values = 0;  // could not be kept: metrics over the limit, or the journal could not be written
  std::vector<OutputMetricCount> metrics;  // in the order of their definitions, or in which they were found
  friend bool operator==(const OutputReport&, const OutputReport&) = default;
};

// For people and programs, with the fields of the event.
OrderedJson json_of(const OutputReport& report);

std::string encode_output_report(const OutputReport& report);
// None when the event is of another type. kDataLoss.
Result<std::optional<OutputReport>> decode_output_report(std::string_view json);

// Several readings as one: sums of the counts, the metrics in the order of the first that has them.
void add_report(OutputReport& sum, const OutputReport& next);

}  // namespace trainwarden::format
