#include "read/profile/system_usage.h"

#include <gtest/gtest.h>

#include "read/trial/run_testing.h"

namespace trainwarden::profile {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

Metric host(const std::string& name, MetricKind kind = MetricKind::kCounter) {
  return {name, "", kind, MetricSource::kHost, "node7"};
}

std::vector<double> values_of(const UsageSeries& series) {
  std::vector<double> values;
  for (const Sample& sample : series.samples) values.push_back(sample.value);
  return values;
}

std::vector<UsageSeries> usage(TestRun& run, const UsageQuestion& question = {}) {
  const auto trial = run.open();
  auto found = system_usage(*trial, question);
  EXPECT_TRUE(found.ok()) << found.status().to_string();
  return std::move(*found);
}

TEST(SystemUsage, ProcessorsAreAShareOfThoseThatAreOn) {
  TestRun run;
  run.sample_together({{host("cpu.busy"), {100, 101, 103}}, {host("cpu.online", MetricKind::kGauge), {4, 4, 4}}},
                      kSecondNs);
  const auto found = usage(run);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind->name, "cpu");
  EXPECT_EQ(found[0].instance, "node7");
  EXPECT_EQ(found[0].worker, "machine-0");
  EXPECT_EQ(values_of(found[0]), (std::vector<double>{25, 50}));
}

TEST(SystemUsage, PartsComeByTheirNumber) {
  TestRun run;
  run.sample_together({{host("cpu.10.busy"), {0, 1}}, {host("cpu.2.busy"), {0, 0.5}}}, kSecondNs);
  const auto found = usage(run);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].part, "2");
  EXPECT_EQ(values_of(found[0]), (std::vector<double>{50}));
  EXPECT_EQ(found[1].part, "10");
  EXPECT_TRUE(usage(run, {.parts = false}).empty());
}

TEST(SystemUsage, AnAmountWithoutItsWholeIsNoShare) {
  TestRun run;
  run.sample_together({{host("memory.used", MetricKind::kGauge), {100, 200}}}, kSecondNs);
  EXPECT_TRUE(usage(run).empty()) << "of how much memory is not known";
}

TEST(SystemUsage, SumsWhatBelongsTogether) {
  TestRun run;
  run.sample_together({{host("tree.cpu.user"), {0, 1, 2}}, {host("tree.cpu.system"), {0, 0.25, 0.5}}}, kSecondNs);
  const auto found = usage(run, {.kinds = {"training_cpu"}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(values_of(found[0]), (std::vector<double>{1.25, 1.25}));
}

TEST(SystemUsage, OfTwoMachinesEachHasItsOwn) {
  TestRun run;
  run.sample_together({{host("disk.sda.read"), {0, 1000}}}, kSecondNs);
  run.sample_together({{host("disk.sda.read"), {0, 3000}}}, kSecondNs, TestRun::kMachine - 1);
  const auto found = usage(run, {.kinds = {"disk_read"}});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].worker, "machine-0");
  EXPECT_EQ(values_of(found[1]), (std::vector<double>{3000}));
}

TEST(SystemUsage, AKindThatThereIsNotIsAnError) {
  TestRun run;
  const auto trial = run.open();
  const auto found = system_usage(*trial, {.kinds = {"cpus"}});
  EXPECT_EQ(found.status().code(), Code::kInvalidArgument);
  EXPECT_NE(found.status().message().find("iowait"), std::string::npos) << found.status().message();
}

TEST(SystemUsage, MeansOfStretches) {
  const std::vector<Sample> samples = {{0, 1}, {10, 3}, {60, 5}, {99, 7}};
  EXPECT_EQ(means_of(samples, 0, 100, 4), (std::vector<Sample>{{12, 2}, {62, 5}, {87, 7}}));
  EXPECT_TRUE(means_of(samples, 5, 5, 4).empty());
}

}  // namespace
}  // namespace trainwarden::profile
