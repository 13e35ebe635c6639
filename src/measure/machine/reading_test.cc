#include "measure/machine/reading.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace trainwarden::machine {
namespace {

Metric metric_named(std::string name, std::string instance = "") {
  return {std::move(name), "bytes", MetricKind::kGauge, MetricSource::kHost, std::move(instance)};
}

TEST(ReadingTest, GivesTheSameMetricTheSameNumber) {
  Reading reading;
  EXPECT_EQ(reading.id_of(metric_named("a")), 0u);
  EXPECT_EQ(reading.id_of(metric_named("b")), 1u);
  EXPECT_EQ(reading.id_of(metric_named("a", "node7")), 2u);
  EXPECT_EQ(reading.id_of(metric_named("a")), 0u);
  Metric of_a_device = metric_named("a");
  of_a_device.source = MetricSource::kDevice;
  EXPECT_EQ(reading.id_of(of_a_device), 3u);
  ASSERT_EQ(reading.metrics().size(), 4u);
  EXPECT_EQ(reading.metrics()[2], metric_named("a", "node7"));
}

TEST(ReadingTest, TellsApartWhatIsTheSameInARow) {
  Reading reading;
  const auto first = reading.id_of({"ab", "", MetricKind::kGauge, MetricSource::kHost, "c"});
  EXPECT_NE(reading.id_of({"a", "", MetricKind::kGauge, MetricSource::kHost, "bc"}), first);
}

TEST(ReadingTest, KeepsValuesForOneTick) {
  Reading reading;
  const auto a = reading.id_of(metric_named("a")), b = reading.id_of(metric_named("b"));
  reading.set(b, 1);
  reading.set(a, 2);
  reading.set(b, 3);
  ASSERT_EQ(reading.values().size(), 2u);
  EXPECT_EQ(reading.values()[0].metric, b);
  EXPECT_EQ(reading.values()[0].value, 3);
  EXPECT_EQ(reading.values()[1].metric, a);
  reading.begin_tick();
  EXPECT_TRUE(reading.values().empty());
  EXPECT_EQ(reading.metrics().size(), 2u);
  reading.set(a, 4);
  ASSERT_EQ(reading.values().size(), 1u);
  EXPECT_EQ(reading.values()[0].value, 4);
}

TEST(ReadingTest, LeavesOutWhatIsNoNumberAndNoMetric) {
  Reading reading;
  const auto a = reading.id_of(metric_named("a"));
  reading.set(a, std::nan(""));
  reading.set(a, std::numeric_limits<double>::infinity());
  reading.set(Reading::kNoMetric, 1);
  reading.set(a + 1, 1);
  EXPECT_TRUE(reading.values().empty());
}

TEST(ReadingTest, RefusesMoreMetricsThanThereIsRoomFor) {
  Reading reading;
  for (std::size_t i = 0; i < Reading::kMaxMetrics; ++i) {
    ASSERT_EQ(reading.id_of(metric_named(std::to_string(i))), i);
  }
  EXPECT_EQ(reading.id_of(metric_named("more")), Reading::kNoMetric);
  EXPECT_EQ(reading.id_of(metric_named("17")), 17u);
  EXPECT_EQ(reading.refused_metrics(), 1u);
}

}  // namespace
}  // namespace trainwarden::machine
