// What a reader must have of batches of samples, for tests.
#pragma once

#include <bit>
#include <cstdint>
#include <map>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "store/journal/journal_reader.h"
#include "store/journal/journal_writer.h"

namespace trainwarden::journal {

using SampleBits = std::vector<std::pair<std::int64_t, std::uint64_t>>;  // time and bits of the value

inline std::map<std::uint32_t, SampleBits> samples_of(std::span<const SampleBatch> batches) {
  std::map<std::uint32_t, SampleBits> all;
  for (const SampleBatch& batch : batches) {
    for (const SampleTable& table : batch.tables) {
      for (const SampleSeries& series : table.series) {
        std::size_t number = 0;
        for (std::size_t tick = 0; tick < table.ticks.size(); ++tick) {
          if (!series.present.empty() && !series.present[tick]) continue;
          all[series.metric].emplace_back(table.ticks[tick], std::bit_cast<std::uint64_t>(series.values[number++]));
        }
      }
    }
  }
  return all;
}

inline SampleQuery all_metrics(const JournalReader& reader) {
  SampleQuery query;
  query.metrics.resize(reader.metrics().size());
  std::iota(query.metrics.begin(), query.metrics.end(), 0u);
  return query;
}

inline std::map<std::uint32_t, SampleBits> samples_of(JournalReader& reader, const SampleQuery& query) {
  std::map<std::uint32_t, SampleBits> all;
  const Status status = reader.samples(query, [&](const SampleChunk& chunk) {
    for (const Sample& sample : chunk.samples) {
      all[chunk.metric].emplace_back(sample.unix_ns, std::bit_cast<std::uint64_t>(sample.value));
    }
  });
  EXPECT_TRUE(status.ok()) << status.to_string();
  return all;
}

// The ids of the batches count the metrics in the order in which they were written.
inline void expect_samples(JournalReader& reader, std::span<const SampleBatch> batches) {
  std::vector<Metric> metrics;
  for (const SampleBatch& batch : batches) {
    for (const MetricEntry& entry : batch.new_metrics) metrics.push_back(entry.metric);
  }
  EXPECT_EQ(std::vector<Metric>(reader.metrics().begin(), reader.metrics().end()), metrics);
  EXPECT_EQ(samples_of(reader, all_metrics(reader)), samples_of(batches));
}

}  // namespace trainwarden::journal
