// SampleCollector: values that were found in an output become batches of samples for a journal.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/format/sample_table_draft.h"
#include "store/journal/journal_writer.h"
#include "trainwarden/metric.h"

namespace trainwarden::output {

// The same value of the same metric again within this time says nothing new: a progress bar that is drawn again.
inline constexpr std::int64_t kDuplicateNs = 100'000'000;
// A log is untrusted: what it calls a metric may be anything.
inline constexpr std::size_t kMaxOutputMetrics = 256;

// All values of one record are sampled at one tick; later records have later ticks, a nanosecond apart at the least.
// One thread at a time.
class SampleCollector {
 public:
  using Sink = std::function<void(const journal::SampleBatch&)>;

  // `instance`: whose output it is, the rank "0". `sink` gets what does not fit into one frame with more, and the rest
  // at each flush().
  SampleCollector(std::string instance, Sink sink);

  // The following values were printed at this time.
  void begin_record(std::int64_t unix_ns);
  void add(std::string_view metric, double value, std::optional<std::int64_t> step);
  void flush();

  std::uint64_t duplicates_of(std::string_view metric) const;
  std::uint64_t lost_values() const { return lost_values_; }  // of metrics beyond kMaxOutputMetrics

 private:
  struct Collected {
    std::uint32_t id = 0;  // of the metric; its steps have the next one
    std::optional<std::uint64_t> last_bits;
    std::int64_t last_unix_ns = 0;
    std::uint64_t duplicates = 0;
    bool has_steps = false;  // at any time so far
  };

  Collected* find_or_name(std::string_view metric);
  static bool is_duplicate(Collected& metric, double value, std::int64_t unix_ns);
  void make_tick();

  const std::string instance_;
  const Sink sink_;
  std::map<std::string, Collected, std::less<>> metrics_;
  std::vector<format::MetricEntry> new_metrics_;
  format::SampleTableDraft draft_;
  std::int64_t now_ns_ = 0;
  std::int64_t last_tick_ = 0;
  bool in_record_ = false;  // the last tick is of this record
  std::uint64_t lost_values_ = 0;
};

}  // namespace trainwarden::output
