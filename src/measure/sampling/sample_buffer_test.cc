#include "measure/sampling/sample_buffer.h"

#include <gtest/gtest.h>

#include "data/format/samples_record.h"

namespace trainwarden::sampling {
namespace {

Metric gauge(const std::string& name) {
  return {name, "bytes", MetricKind::kGauge, MetricSource::kHost, "here"};
}

// What a sampler reads at a tick: each metric with its value.
class Sampled {
 public:
  const machine::Reading& operator()(std::initializer_list<std::pair<const char*, double>> values) {
    reading_.begin_tick();
    for (const auto& [name, value] : values) reading_.set(reading_.id_of(gauge(name)), value);
    return reading_;
  }

 private:
  machine::Reading reading_;
};

TEST(SampleBuffer, GivesTablesThatAJournalTakes) {
  SampleBuffer buffer(1);
  Sampled host;
  buffer.take(0, host({{"used", 1}, {"free", 9}}), {100, false});
  buffer.take(0, host({{"used", 2}}), {200, false});
  const journal::SampleBatch batch = buffer.drain();
  ASSERT_EQ(batch.new_metrics.size(), 2U);
  EXPECT_EQ(batch.new_metrics[0].metric, gauge("used"));
  EXPECT_EQ(batch.new_metrics[1].metric, gauge("free"));
  ASSERT_EQ(batch.tables.size(), 1U);
  const Status fine = format::check_samples(batch.tables[0]);
  EXPECT_TRUE(fine.ok()) << fine.message();
  EXPECT_EQ(batch.tables[0].ticks, (std::vector<std::int64_t>{100, 200}));
  EXPECT_EQ(batch.tables[0].series[0], (journal::SampleSeries{0, {1, 2}, {}}));
  EXPECT_EQ(batch.tables[0].series[1], (journal::SampleSeries{1, {9}, {true, false}})) << "missing, not 0";
}

TEST(SampleBuffer, NamesAMetricOnceAndCountsOverAllSamplers) {
  SampleBuffer buffer(2);
  Sampled host, gpu;
  buffer.take(0, host({{"used", 1}}), {100, false});
  buffer.take(1, gpu({{"gpu", 7}}), {150, false});
  const journal::SampleBatch first = buffer.drain();
  ASSERT_EQ(first.tables.size(), 2U) << "they tick apart";
  EXPECT_EQ(first.tables[1].series[0].metric, 1U);
  buffer.take(1, gpu({{"gpu", 8}, {"watt", 300}}), {650, false});
  const journal::SampleBatch second = buffer.drain();
  ASSERT_EQ(second.new_metrics.size(), 1U);
  EXPECT_EQ(second.new_metrics[0].id, 2U);
  EXPECT_EQ(second.new_metrics[0].metric, gauge("watt"));
}

TEST(SampleBuffer, AClockThatWasSetBackBeginsAnotherTable) {
  SampleBuffer buffer(1);
  Sampled host;
  buffer.take(0, host({{"used", 1}}), {200, false});
  buffer.take(0, host({{"used", 2}}), {100, true});
  const journal::SampleBatch batch = buffer.drain();
  ASSERT_EQ(batch.tables.size(), 2U);
  EXPECT_EQ(batch.tables[1].ticks, (std::vector<std::int64_t>{100}));
}

TEST(SampleBuffer, WhatNobodyTakesIsGivenUpFromItsBeginning) {
  SampleBuffer buffer(1);
  Sampled host;
  std::int64_t tick = 0;
  // A table has room for so many ticks of one metric.
  const std::uint64_t ticks = (kMaxWaitingTables + 2) * format::kMaxSamplesInFrame;
  for (std::uint64_t i = 0; i < ticks; ++i) buffer.take(0, host({{"used", 1}}), {++tick, false});
  const journal::SampleBatch batch = buffer.drain();
  EXPECT_LE(batch.tables.size(), kMaxWaitingTables);
  EXPECT_EQ(batch.tables.back().ticks.back(), tick);
  std::uint64_t kept = 0;
  for (const auto& table : batch.tables) kept += table.ticks.size();
  EXPECT_EQ(kept + buffer.lost_samples(), ticks);
  EXPECT_GT(buffer.lost_samples(), 0U);
}

TEST(SampleBuffer, CountsWhatCouldNotBeWritten) {
  SampleBuffer buffer(1);
  Sampled host;
  buffer.take(0, host({{"used", 1}, {"free", 2}}), {100, false});
  buffer.lose(buffer.drain());
  EXPECT_EQ(buffer.lost_samples(), 2U);
  EXPECT_TRUE(buffer.drain().tables.empty());
}

}  // namespace
}  // namespace trainwarden::sampling
