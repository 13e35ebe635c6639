// What was sampled over time, as a trial gives it.
#include <limits>

#include <gtest/gtest.h>

#include "read/trial/run_testing.h"

namespace trainwarden {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
const Metric kCpu = {"cpu", "", MetricKind::kRatio, MetricSource::kHost, ""};
const Metric kHeat = {"temperature", "celsius", MetricKind::kGauge, MetricSource::kDevice, "GPU-0"};

std::vector<double> values_of(const std::vector<Sample>& samples) {
  std::vector<double> values;
  for (const Sample& sample : samples) values.push_back(sample.value);
  return values;
}

TEST(TrialSamples, MetricsAreListedByNameAndWorker) {
  TestRun run(2);
  EXPECT_TRUE(run.open()->metrics().empty());
  run.sample(kHeat, {60}, kSecondNs);
  run.sample(kCpu, {0.5}, kSecondNs);
  run.sample(kCpu, {0.6}, kSecondNs, 1);
  EXPECT_EQ(run.open()->metrics(),
            (std::vector<SampledMetric>{{kCpu, "rank-00000"}, {kCpu, "rank-00001"}, {kHeat, "rank-00000"}}));
}

TEST(TrialSamples, AreThoseOfTheRangeWhileTheRunGrows) {
  TestRun run;
  run.add_steps(0, 1);
  const auto trial = run.open();
  const std::int64_t start = run.clock().unix_ns();
  run.sample(kCpu, {0.1, 0.2, 0.3}, kSecondNs);
  run.sample(kCpu, {0.4, 0.5}, kSecondNs);
  const SampledMetric cpu = {kCpu, "rank-00000"};
  EXPECT_EQ(trial->samples(cpu, 0, kEnd).status().code(), Code::kNotFound) << "before a refresh";
  ASSERT_TRUE(trial->refresh().ok());
  EXPECT_EQ(values_of(trial->samples(cpu, 0, kEnd).value()), (std::vector<double>{0.1, 0.2, 0.3, 0.4, 0.5}));
  const auto some = trial->samples(cpu, start + kSecondNs, start + 4 * kSecondNs).value();
  EXPECT_EQ(values_of(some), (std::vector<double>{0.2, 0.3, 0.4}));
  EXPECT_EQ(some[0].unix_ns, start + kSecondNs);
  EXPECT_TRUE(trial->samples(cpu, 0, start).value().empty());
  run.sample(kCpu, {0.6}, kSecondNs);
  run.end();
  ASSERT_TRUE(trial->refresh().ok());
  EXPECT_EQ(values_of(trial->samples(cpu, start + 5 * kSecondNs, kEnd).value()), (std::vector<double>{0.6}));
  EXPECT_EQ(trial->steps().size(), 2u) << "samples are no steps";
}

TEST(TrialSamples, AnUnknownMetricIsNamed) {
  TestRun run;
  run.sample(kCpu, {0.1}, kSecondNs);
  const auto trial = run.open();
  for (const SampledMetric& wanted : {SampledMetric{kHeat, "rank-00000"}, SampledMetric{kCpu, "rank-00009"}}) {
    const Status status = trial->samples(wanted, 0, kEnd).status();
    EXPECT_EQ(status.code(), Code::kNotFound);
    EXPECT_NE(status.message().find(wanted.metric.name), std::string::npos) << status.message();
  }
}

}  // namespace
}  // namespace trainwarden
