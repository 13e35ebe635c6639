// Moments: samples at any rate as means over half seconds, machine by machine.
#include "judge/rules/builtin/profiler/moments.h"

#include <gtest/gtest.h>

#include "judge/rules/timeline/timeline.h"
#include "read/trial/run_testing.h"

namespace trainwarden::rules::moments_tests {
namespace {

constexpr std::int64_t kTenth = 100'000'000, kWhole = 1'000'000'000;

Metric busy(const std::string& core, const std::string& host = "node1") {
  return {"cpu." + core + ".busy", "seconds", MetricKind::kCounter, MetricSource::kHost, host};
}
const Metric kGpu = {"gpu.utilisation", "", MetricKind::kRatio, MetricSource::kDevice, "GPU-0"};

std::vector<double> counter(double rate, std::int64_t apart_ns, std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = 100 + rate * static_cast<double>(apart_ns) * 1e-9 * static_cast<double>(i);
  return values;
}

struct Seen {
  std::string node;
  std::int64_t from_unix_ns;
  std::vector<std::pair<std::string, double>> values;  // by part
};

std::vector<Seen> moments_of(TestRun& run, std::vector<std::string> roles, bool ended = true) {
  MomentReader reader(std::move(roles), 5 * kWhole);
  const auto trial = run.open();
  Timeline timeline(*trial, run.clock());
  EXPECT_TRUE(timeline.add(reader.schedule()).ok());
  EXPECT_TRUE(timeline.refresh(ended).ok());
  std::vector<Seen> seen;
  for (auto due = timeline.next(); due.ok() && *due; due = timeline.next()) {
    reader.take(timeline.window(0, **due), [&](const Moment& moment) {
      seen.push_back({moment.node, moment.from_unix_ns, {}});
      for (const MomentValue& value : moment.values) seen.back().values.emplace_back(value.part, value.value);
    });
  }
  return seen;
}

TEST(Moments, CountersAreRatesAndGaugesMeans) {
  TestRun run;
  const std::int64_t start = run.clock().unix_ns();
  run.sample_together({{busy("0"), counter(0.75, kTenth, 101)}, {busy("1"), counter(0.25, kTenth, 101)}}, kTenth);
  run.end(TestRun::kMachine);
  const auto seen = moments_of(run, {"cpu.*.busy"});
  ASSERT_EQ(seen.size(), 20u) << "ten seconds";
  for (std::size_t i = 0; i < seen.size(); ++i) {
    EXPECT_EQ(seen[i].from_unix_ns, start + static_cast<std::int64_t>(i) * kMomentNs);
    ASSERT_EQ(seen[i].values.size(), 2u);
    EXPECT_EQ(seen[i].values[0].first, "0");
    EXPECT_NEAR(seen[i].values[0].second, 0.75, 1e-9);
    EXPECT_NEAR(seen[i].values[1].second, 0.25, 1e-9);
    EXPECT_EQ(seen[i].node, "node1");
  }
}

// The same machine, looked at every tenth of a second, and every two seconds.
TEST(Moments, DoNotDependOnTheRateOfTheSampler) {
  std::vector<double> means;
  for (const std::int64_t apart : {kTenth, 2 * kWhole}) {
    TestRun run;
    run.sample_together({{busy("0"), counter(0.6, apart, static_cast<std::size_t>(10 * kWhole / apart) + 1)}}, apart);
    run.end(TestRun::kMachine);
    const auto seen = moments_of(run, {"cpu.*.busy"});
    EXPECT_EQ(seen.size(), 20u);
    for (const Seen& moment : seen) EXPECT_NEAR(moment.values.at(0).second, 0.6, 1e-9);
  }
}

TEST(Moments, SamplersWithTicksOfTheirOwnComeTogether) {
  TestRun run;
  for (int i = 0; i < 21; ++i) {
    run.sample_together({{busy("0"), counter(1, kTenth, 5)}}, kTenth);
    run.sample_together({{kGpu, {i < 10 ? 0.2 : 0.8}}}, 1);
  }
  run.end(TestRun::kMachine);
  const auto seen = moments_of(run, {"cpu.*.busy", "gpu.utilisation"});
  std::size_t both = 0;
  for (const Seen& moment : seen) both += moment.values.size() == 2;
  EXPECT_GE(both, 18u);
}

TEST(Moments, MachinesAreApart) {
  TestRun run;
  run.sample_together({{busy("0", "a"), counter(1, kTenth, 51)}}, kTenth);
  run.sample_together({{busy("0", "b"), counter(0.5, kTenth, 51)}, {kGpu, std::vector<double>(51, 0.5)}}, kTenth, -2);
  run.end(-1);
  run.end(-2);
  std::map<std::string, std::size_t> by_node;
  for (const Seen& moment : moments_of(run, {"cpu.*.busy", "gpu.utilisation"})) {
    ++by_node[moment.node];
    EXPECT_EQ(moment.values.size(), moment.node == "a" ? 1u : 2u);
  }
  EXPECT_EQ(by_node, (std::map<std::string, std::size_t>{{"a", 10}, {"b", 10}}));
}

// Its sampler was started anew: another journal of the same host.
TEST(Moments, OneMachineWithTwoJournalsIsOne) {
  TestRun run;
  run.sample_together({{busy("0"), counter(1, kTenth, 51)}}, kTenth, -1);
  run.clock().advance_ns(10 * kWhole);
  run.sample_together({{busy("0"), counter(1, kTenth, 51)}}, kTenth, -2);
  run.end(-1);
  run.end(-2);
  const auto seen = moments_of(run, {"cpu.*.busy"});
  for (const Seen& moment : seen) EXPECT_EQ(moment.node, "node1");
  EXPECT_EQ(seen.size(), 20u) << "the counter fell: what was in between is not known";
}

TEST(Moments, ACounterThatBeganAnewHasNoRateThere) {
  TestRun run;
  run.sample_together({{busy("0"), {10, 10.1, 10.2, 10.3, 10.4, 10.5, 0.1, 0.2, 0.3, 0.4, 0.5}}}, kTenth);
  run.end(TestRun::kMachine);
  for (const Seen& moment : moments_of(run, {"cpu.*.busy"})) EXPECT_NEAR(moment.values.at(0).second, 1, 1e-9);
}

TEST(Moments, ASilenceIsNotFilled) {
  TestRun run;
  run.sample_together({{busy("0"), counter(1, kTenth, 11)}}, kTenth);
  run.clock().advance_ns(100 * kWhole);
  run.sample_together({{busy("0"), {200, 200.1, 200.2, 200.3, 200.4, 200.5}}}, kTenth);
  run.end(TestRun::kMachine);
  EXPECT_LE(moments_of(run, {"cpu.*.busy"}).size(), 4u);
}

TEST(Moments, AProcessThatEndedIsNotWaitedFor) {
  TestRun run;
  const Metric process = {"process.threads", "", MetricKind::kGauge, MetricSource::kProcess, "12 python"};
  run.sample_together({{busy("0"), counter(1, kTenth, 11)}, {process, std::vector<double>(11, 1)}}, kTenth);
  run.sample_together({{busy("0"), counter(1, kTenth, 151)}}, kTenth);
  EXPECT_GE(moments_of(run, {"cpu.*.busy", "process.threads"}, false).size(), 18u);
}

TEST(Moments, LongSilencesAndWrongTimesAreNoEndlessWork) {
  TestRun run;
  run.sample_together({{busy("0"), {1, 2, 3}}}, std::int64_t{1} << 60);
  run.end(TestRun::kMachine);
  EXPECT_TRUE(moments_of(run, {"cpu.*.busy"}).empty());
}

TEST(Patience, IsOverAfterItsMomentsOrAtTheEnd) {
  const Patience patience{100};
  EXPECT_FALSE(patience.is_over(100, false));
  EXPECT_TRUE(patience.is_over(101, false));
  EXPECT_TRUE(patience.is_over(8, true));
  EXPECT_FALSE(patience.is_over(7, true));
  EXPECT_EQ(known_text(25, patience), "12.5 s of 50 s are known");
}

}  // namespace
}  // namespace trainwarden::rules::moments_tests
