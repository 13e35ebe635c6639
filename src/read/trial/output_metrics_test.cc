// What was found in a program's output, as a trial gives it; and runs that no worker has written.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "data/format/run_event.h"
#include "data/format/step_metric.h"
#include "read/trial/run_testing.h"

namespace trainwarden {
namespace {

constexpr std::int64_t kAllTimes = std::numeric_limits<std::int64_t>::max();
const Metric kPrintedLoss = {"loss", "", MetricKind::kGauge, MetricSource::kRank, "0"};
const SampledMetric kSampledLoss = {kPrintedLoss, "output-0"};

// Losses at the ticks 10, 20, 30, with a step at the first and the last.
void write_losses(journal::JournalWriter& writer) {
  journal::SampleBatch batch;
  batch.new_metrics = {{0, kPrintedLoss}, {1, format::step_metric(kPrintedLoss)}};
  batch.tables = {{{10, 20, 30}, {{0, {2, std::nan(""), 1}}, {1, {100, 102}, {true, false, true}}}}};
  ASSERT_TRUE(writer.append_samples(batch).ok());
}

format::OutputReport report_of(std::int64_t began_unix_ns, std::uint64_t values) {
  format::OutputReport report;
  report.began_unix_ns = began_unix_ns;
  report.metrics = {{"loss", values, 0, 0, "", 0}};
  return report;
}

void append_report(journal::JournalWriter& writer, const format::OutputReport& report) {
  ASSERT_TRUE(writer.append_event(format::FrameKind::kEvent, -1, format::encode_output_report(report)).ok());
}

TEST(OutputMetrics, AreMetricsOfTheRunWithTheirSteps) {
  TestRun run;
  run.add_steps(0, 2);
  const auto trial = run.open();
  EXPECT_FALSE(TrialAccess::output_report(*trial).has_value());
  const auto writer = output_writer(run, run.info());
  write_losses(*writer);
  ASSERT_TRUE(trial->refresh().ok());
  EXPECT_EQ(trial->metrics(), std::vector<SampledMetric>{kSampledLoss}) << "the steps are no metric of their own";
  const auto samples = trial->samples(kSampledLoss, 0, kAllTimes).value();
  ASSERT_EQ(samples.size(), 3u);
  EXPECT_EQ(samples[0], (Sample{10, 2}));
  EXPECT_TRUE(std::isnan(samples[1].value));
  EXPECT_EQ(trial->sample_steps(kSampledLoss, 0, kAllTimes).value(), (std::vector<Sample>{{10, 100}, {30, 102}}));
  EXPECT_EQ(trial->sample_steps({{.name = "other"}, "output-0"}, 0, kAllTimes).status().code(), Code::kNotFound);
  EXPECT_EQ(trial->workers(), std::vector<std::string>{"rank-00000"});
  EXPECT_EQ(trial->steps().size(), 3u);
}

TEST(OutputMetrics, TheLastReportOfEachReadingCounts) {
  TestRun run;
  run.add_steps(0, 1);
  const auto writer = output_writer(run, run.info());
  append_report(*writer, report_of(1, 10));
  append_report(*writer, report_of(1, 12));
  append_report(*writer, report_of(2, 5));
  const auto report = TrialAccess::output_report(*run.open());
  ASSERT_TRUE(report.has_value());
  ASSERT_EQ(report->metrics.size(), 1u);
  EXPECT_EQ(report->metrics[0].values, 17u);
}

// As who reads the output of a program without a hook makes it.
journal::RunInfo waiting_run(const TestRun& run) {
  journal::RunInfo info = run.info();
  info.world_size = 1;
  info.awaits_worker = true;
  EXPECT_TRUE(run.storage()->replace(journal::kRunFile, as_bytes(journal::encode_run_info(info))).ok());
  return info;
}

TEST(OutputMetrics, ARunWithoutAWorkerStandsAsItsOutputDoes) {
  TestRun run(4);
  auto writer = output_writer(run, waiting_run(run));
  write_losses(*writer);
  const auto trial = run.open();
  EXPECT_EQ(trial->state(), RunState::kRunning);
  EXPECT_EQ(trial->metrics().size(), 1u);
  ASSERT_TRUE(writer->append_event(format::FrameKind::kEvent, -1, format::encode_run_end({})).ok());
  ASSERT_TRUE(writer->seal().ok());
  writer.reset();
  ASSERT_TRUE(trial->refresh().ok());
  EXPECT_EQ(trial->state(), RunState::kCompleted);
  EXPECT_TRUE(trial->losses().empty()) << "no worker is missed";
}

TEST(OutputMetrics, ARunWhoseOutputIsNoLongerReadHasDied) {
  TestRun run(4);
  auto writer = output_writer(run, waiting_run(run));
  write_losses(*writer);
  writer.reset();
  run.clock().advance_ns(60'000'000'000);
  EXPECT_EQ(run.open()->state(), RunState::kDied);
}

TEST(OutputMetrics, TheFirstWorkerSaysWhatTheRunIs) {
  TestRun run(4);
  const auto writer = output_writer(run, waiting_run(run));
  write_losses(*writer);
  const auto trial = run.open();
  EXPECT_EQ(trial->world_size(), 1);
  journal::RunInfo worker = run.info();
  worker.id = "another";
  worker.world_size = 4;
  const auto joined = journal::create_or_join_run(*run.storage(), worker);
  ASSERT_TRUE(joined.ok()) << joined.status().message();
  EXPECT_EQ(joined->id, run.info().id) << "frames that are there stay the run's";
  EXPECT_FALSE(joined->awaits_worker);
  ASSERT_TRUE(trial->refresh().ok());
  EXPECT_EQ(trial->world_size(), 4);
  EXPECT_EQ(trial->samples(kSampledLoss, 0, kAllTimes).value().size(), 3u);
  worker.world_size = 2;
  EXPECT_EQ(journal::create_or_join_run(*run.storage(), worker).status().code(), Code::kFailedPrecondition);
  worker.awaits_worker = true;
  EXPECT_EQ(journal::create_or_join_run(*run.storage(), worker)->world_size, 4) << "who reads output joins any run";
}

}  // namespace
}  // namespace trainwarden
