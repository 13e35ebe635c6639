// SampleRings: the samples of the metrics that rules ask for, of a stretch of time, over all workers of a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/regex.h"
#include "read/trial/sampled_journal.h"
#include "trainwarden/metric.h"
#include "trainwarden/rule.h"
#include "trainwarden/status.h"
#include "trainwarden/trial.h"

namespace trainwarden::rules {

// 64 MiB: 100 metrics at ten ticks a second over an hour are 3.6 million.
inline constexpr std::size_t kMaxHeldSamples = 4'000'000;

// One thread at a time.
class SampleRings {
 public:
  // Selections are numbered from 0. kInvalidArgument for a bad pattern.
  Status add(const MetricSelection& selection);
  void drop(std::size_t selection);  // nothing is read for it any more

  // Takes in the metrics that the run has had since. The trial must outlive the rings.
  void find_metrics(Trial& trial);
  // Takes in the samples in [from, to) of what is selected, and says how many they are; `from` is no earlier than the
  // last `to`. The storage's errors, after which it is called again with the same; kResourceExhausted when there are
  // too many.
  Result<std::size_t> read(std::int64_t from_unix_ns, std::int64_t to_unix_ns);
  void forget_before(std::int64_t unix_ns);

  // The selected metrics that have a sample in [from, to): by name, source, instance and worker. Valid until the next
  // call that is not const.
  std::vector<MetricSeries> series(std::size_t selection, std::int64_t from_unix_ns, std::int64_t to_unix_ns) const;
  // Of all selected metrics.
  std::optional<std::int64_t> first_from(std::size_t selection, std::int64_t unix_ns) const;

 private:
  struct Selection {
    MetricSelection wanted;
    RegexSet patterns;
    bool active = true;
  };
  struct Ring {
    trial::SampledJournal* journal = nullptr;
    std::uint32_t metric = 0;  // index in the journal's reader
    Metric description;
    std::vector<std::size_t> selections;
    std::vector<Sample> samples;  // rising
    std::size_t start = 0;        // those before are forgotten
  };
  using Key = std::tuple<std::string, MetricSource, std::string, std::string>;  // name, source, instance, worker

  void find_metrics(trial::SampledJournal& journal);
  bool is_wanted(const Ring& ring) const;
  Status read_journal(trial::SampledJournal& journal, std::int64_t from_unix_ns, std::int64_t to_unix_ns);
  static std::span<const Sample> between(const Ring& ring, std::int64_t from_unix_ns, std::int64_t to_unix_ns);

  std::vector<Selection> selections_;
  std::map<Key, Ring> rings_;
  std::map<trial::SampledJournal*, std::size_t> known_metrics_;  // of each journal, so many are in rings_ or not wanted
  std::size_t held_ = 0;
};

}  // namespace trainwarden::rules
