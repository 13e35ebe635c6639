#include "work/output/sample_collector.h"

#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include <gtest/gtest.h>

#include "data/format/samples_record.h"
#include "data/format/step_metric.h"

namespace trainwarden::output {
namespace {

constexpr std::int64_t kMs = 1'000'000;

// All samples of the batches, by metric: name of the metric, and "name step" for its steps.
class Taken {
 public:
  SampleCollector::Sink sink() {
    return [this](const journal::SampleBatch& batch) { take(batch); };
  }

  std::map<std::string, std::vector<std::pair<std::int64_t, double>>> samples;
  std::size_t batches = 0;

 private:
  void take(const journal::SampleBatch& batch) {
    ++batches;
    for (const auto& entry : batch.new_metrics) {
      names_[entry.id] = entry.metric.name + (format::is_step_metric(entry.metric) ? " step" : "");
      EXPECT_EQ(entry.metric.source, MetricSource::kRank);
    }
    for (const auto& table : batch.tables) {
      const Status fine = format::check_samples(table);
      EXPECT_TRUE(fine.ok()) << fine.message();
      for (const auto& series : table.series) take(table, series);
    }
  }
  void take(const format::SampleTable& table, const format::SampleSeries& series) {
    ASSERT_TRUE(names_.contains(series.metric)) << "a metric without a name";
    std::size_t number = 0;
    for (std::size_t tick = 0; tick < table.ticks.size(); ++tick) {
      if (!series.present.empty() && !series.present[tick]) continue;
      samples[names_[series.metric]].emplace_back(table.ticks[tick], series.values[number++]);
    }
  }

  std::map<std::uint32_t, std::string> names_;
};

using Points = std::vector<std::pair<std::int64_t, double>>;

TEST(SampleCollector, ValuesOfOneRecordShareATick) {
  Taken taken;
  SampleCollector collector("0", taken.sink());
  collector.begin_record(1000);
  collector.add("loss", 2, 10);
  collector.add("accuracy", 0.5, 10);
  collector.begin_record(2000);
  collector.add("loss", 1, std::nullopt);
  EXPECT_EQ(taken.batches, 0u);
  collector.flush();
  collector.flush();
  EXPECT_EQ(taken.batches, 1u) << "nothing is no batch";
  EXPECT_EQ(taken.samples["loss"], (Points{{1000, 2}, {2000, 1}}));
  EXPECT_EQ(taken.samples["loss step"], (Points{{1000, 10}}));
  EXPECT_EQ(taken.samples["accuracy"], (Points{{1000, 0.5}}));
  EXPECT_EQ(taken.samples["accuracy step"], (Points{{1000, 10}}));
}

TEST(SampleCollector, TicksRiseThoughRecordsComeTogether) {
  Taken taken;
  SampleCollector collector("0", taken.sink());
  for (const double value : {3, 2, 1}) {
    collector.begin_record(1000);
    collector.add("loss", value, std::nullopt);
  }
  collector.add("loss", 0, std::nullopt);  // twice within one record
  collector.flush();
  EXPECT_EQ(taken.samples["loss"], (Points{{1000, 3}, {1001, 2}, {1002, 1}, {1003, 0}}));
}

TEST(SampleCollector, TheSameAgainWithinATenthOfASecondIsCountedAndLeftOut) {
  Taken taken;
  SampleCollector collector("0", taken.sink());
  const auto print = [&](std::int64_t ms, double value) {
    collector.begin_record(ms * kMs);
    collector.add("loss", value, ms);
  };
  print(1000, 2);
  print(1099, 2);
  print(1100, 2);
  print(1110, 1);
  print(1120, 2);
  const double nan = std::nan("");
  print(1130, nan);
  print(1140, -nan);
  print(1150, std::numeric_limits<double>::infinity());
  collector.begin_record(1150 * kMs);
  collector.add("other", 2, std::nullopt);
  collector.flush();
  ASSERT_EQ(taken.samples["loss"].size(), 6u);
  EXPECT_EQ(taken.samples["loss"][1], (std::pair<std::int64_t, double>(1100 * kMs, 2)));
  EXPECT_TRUE(std::isnan(taken.samples["loss"][4].second));
  EXPECT_EQ(taken.samples["loss step"].size(), 6u);
  EXPECT_EQ(taken.samples["other"].size(), 1u);
  EXPECT_EQ(collector.duplicates_of("loss"), 2u);
  EXPECT_EQ(collector.duplicates_of("other"), 0u);
}

// Each batch is checked by Taken: it fits into a frame.
TEST(SampleCollector, WhatDoesNotFitIntoAFrameGoesOnInTheNext) {
  Taken taken;
  SampleCollector collector("0", taken.sink());
  constexpr int kRecords = 3000;
  for (int record = 0; record < kRecords; ++record) {
    collector.begin_record(record * kMs);
    for (int metric = 0; metric < 60; ++metric) collector.add("m" + std::to_string(metric), record, record);
  }
  collector.flush();
  EXPECT_GT(taken.batches, 1u);
  ASSERT_EQ(taken.samples.size(), 120u);
  for (const auto& [name, points] : taken.samples) {
    ASSERT_EQ(points.size(), kRecords) << name;
    for (int record = 0; record < kRecords; ++record) ASSERT_EQ(points[record].second, record) << name;
  }
}

TEST(SampleCollector, MetricsBeyondTheLimitAreCounted) {
  Taken taken;
  SampleCollector collector("0", taken.sink());
  for (std::size_t metric = 0; metric < kMaxOutputMetrics + 3; ++metric) {
    collector.begin_record(0);
    collector.add("m" + std::to_string(metric), 1, std::nullopt);
  }
  collector.flush();
  EXPECT_EQ(taken.samples.size(), kMaxOutputMetrics);
  EXPECT_EQ(collector.lost_values(), 3u);
}

}  // namespace
}  // namespace trainwarden::output
