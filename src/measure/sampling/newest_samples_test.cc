#include "measure/sampling/newest_samples.h"

#include <gtest/gtest.h>

namespace trainwarden::sampling {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

TEST(NewestSamples, ShowsTheNewestOfEachUntilItIsTooOld) {
  NewestSamples newest(2);
  machine::Reading host, gpu;
  const auto used = host.id_of({"memory.used", "bytes", MetricKind::kGauge, MetricSource::kHost, "node7"});
  const auto busy = host.id_of({"cpu.busy", "seconds", MetricKind::kCounter, MetricSource::kHost, "node7"});
  EXPECT_TRUE(newest.at(0).empty());
  host.set(used, 1);
  host.set(busy, 10);
  newest.take(0, host, 1 * kSecondNs);
  host.begin_tick();
  host.set(busy, 11);
  newest.take(0, host, 2 * kSecondNs);
  gpu.set(gpu.id_of({"gpu.power", "watts", MetricKind::kGauge, MetricSource::kDevice, "GPU-0"}), 300);
  newest.take(1, gpu, 2 * kSecondNs);

  const auto found = newest.at(3 * kSecondNs);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].value, 1);
  EXPECT_EQ(found[1].metric.name, "cpu.busy");
  EXPECT_EQ(found[1].value, 11);
  EXPECT_EQ(found[2].metric.instance, "GPU-0");
  EXPECT_EQ(newest.at(1 * kSecondNs + kFreshNs + 1).size(), 2U) << "what was sampled once has gone";
  EXPECT_TRUE(newest.at(2 * kSecondNs + kFreshNs + 1).empty()) << "as of a driver that hangs";
}

}  // namespace
}  // namespace trainwarden::sampling
