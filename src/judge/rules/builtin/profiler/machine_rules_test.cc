// The rules over samples of the machine: ThrottledContainer, GPUThrottled, Roofline; and MemoryFragmentation.
#include <utility>

#include "judge/rules/builtin/profiler/phase_testing.h"
#include "judge/rules/builtin/training/signal_testing.h"
#include "judge/rules/engine.h"

namespace trainwarden::rules {
namespace {

using Series = std::vector<std::pair<Metric, std::vector<double>>>;

Metric of_host(std::string name, MetricKind kind = MetricKind::kCounter) {
  return {std::move(name), "", kind, MetricSource::kHost, "node"};
}
Metric of_gpu(std::string name, MetricKind kind = MetricKind::kRatio) {
  return {std::move(name), "", kind, MetricSource::kDevice, "GPU-0"};
}

// The last verdict over the samples, in windows as the engine makes them.
Verdict judged(TestRun& run, const char* spec) {
  const auto parsed = parse_rule_spec(spec);
  const auto rule = create_rule(*parsed);
  const auto trial = run.open();
  Verdict verdict = Verdict::insufficient_data("no window");
  const std::int64_t length = (*rule)->schedule()->window_ns;
  std::vector<std::pair<SampledMetric, std::vector<Sample>>> all;
  std::int64_t last = 0;
  for (const SampledMetric& metric : trial->metrics()) {
    all.emplace_back(metric, *trial->samples(metric, 0, std::numeric_limits<std::int64_t>::max()));
    last = std::max(last, all.back().second.back().unix_ns);
  }
  for (std::int64_t from = trial->created_unix_ns() / length * length; from <= last; from += length) {
    std::vector<std::vector<Sample>> samples;
    std::vector<MetricSeries> series;
    for (const auto& [metric, of_metric] : all) {
      samples.emplace_back();
      for (const Sample& sample : of_metric) {
        if (sample.unix_ns >= from && sample.unix_ns < from + length) samples.back().push_back(sample);
      }
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!samples[i].empty()) series.push_back({all[i].first.metric, all[i].first.worker, samples[i]});
    }
    if (!series.empty()) verdict = (*rule)->evaluate_time({*trial, from, from + length, 3, from, series});
  }
  return verdict;
}

constexpr std::int64_t kHalfSecond = 500'000'000;

// A group that may use `quota` processors and would use `wanted`, for 20 s.
Series throttled_group(double quota, double wanted, double machine = 8) {
  std::vector<double> throttled, throttled_periods, periods, usage;
  const double used = std::min(quota, wanted);
  for (int i = 0; i < 40; ++i) {
    const double seconds = 0.5 * i;
    throttled.push_back(seconds * (wanted - used));
    throttled_periods.push_back(wanted > quota ? 10 * seconds : 0);
    periods.push_back(10 * seconds);
    usage.push_back(seconds * used);
  }
  return {{of_host("cgroup.cpu.throttled"), throttled},
          {of_host("cgroup.cpu.throttled_periods"), throttled_periods},
          {of_host("cgroup.cpu.periods"), periods},
          {of_host("cgroup.cpu.usage"), usage},
          {of_host("cgroup.cpu.quota", MetricKind::kGauge), std::vector<double>(40, quota)},
          {of_host("cpu.online", MetricKind::kGauge), std::vector<double>(40, machine)}};
}

TEST(ThrottledContainer, OneThreadWithHalfAProcessor) {
  TestRun run;
  run.sample_together(throttled_group(0.5, 1), kHalfSecond);
  const Verdict verdict = judged(run, "ThrottledContainer");
  ASSERT_EQ(verdict.outcome, Outcome::kFired);
  EXPECT_NEAR(evidence_value(verdict, "gain"), 2, 1e-6);
  EXPECT_NEAR(evidence_value(verdict, "step_share"), 0.5, 1e-6);
  EXPECT_NEAR(evidence_value(verdict, "gain_min"), 1 / (1 - 0.5 / 8), 1e-6);
  EXPECT_NEAR(evidence_value(verdict, "throttled_periods_share"), 1, 1e-6);
  EXPECT_NEAR(evidence_value(verdict, "quota_processors"), 0.5, 1e-6);
}

TEST(ThrottledContainer, NoMoreThanTheMachineHas) {
  TestRun run;
  run.sample_together(throttled_group(1, 16, 4), kHalfSecond);
  const Verdict verdict = judged(run, "ThrottledContainer");
  ASSERT_EQ(verdict.outcome, Outcome::kFired);
  EXPECT_NEAR(evidence_value(verdict, "gain"), 4, 1e-6);
  EXPECT_NEAR(evidence_value(verdict, "gain_max"), 16, 1e-6);
}

TEST(ThrottledContainer, OkInsufficientNotApplicable) {
  TestRun free_one;
  free_one.sample_together(throttled_group(4, 2), kHalfSecond);
  EXPECT_EQ(judged(free_one, "ThrottledContainer").outcome, Outcome::kOk);
  TestRun brief;
  brief.sample_together(throttled_group(0.5, 1), kHalfSecond / 10);
  EXPECT_EQ(judged(brief, "ThrottledContainer").outcome, Outcome::kInsufficientData);
  TestRun without;
  without.sample_together({{of_host("cgroup.cpu.usage"), {1, 2, 3}}}, kHalfSecond);
  EXPECT_EQ(judged(without, "ThrottledContainer").outcome, Outcome::kNotApplicable);
}

TEST(ThrottledContainer, InTheEngine) {
  TestRun run;
  run.sample_together(throttled_group(0.5, 1), kHalfSecond);
  run.add_steps(0, 0);
  run.end();
  const auto trial = run.open();
  auto rules = create_engine_rules(std::vector<RuleSpec>{{"ThrottledContainer", {}}});
  ASSERT_TRUE(rules.ok());
  EngineOptions options;
  options.clock = &run.clock();
  Engine engine(*trial, std::move(*rules), options);
  EXPECT_TRUE(engine.poll().ok());
  ASSERT_EQ(engine.first_fired().size(), 1u);
}

Series gpu(double utilisation, double throttled, double generation = 5) {
  std::vector<double> reasons, clocks;
  for (int i = 0; i < 40; ++i) {
    const bool is_slow = i % 10 < 10 * throttled;
    reasons.push_back(is_slow);
    clocks.push_back(is_slow ? 1e9 : 2e9);
  }
  const auto all = [](double value) { return std::vector<double>(40, value); };
  return {{of_gpu("gpu.utilisation"), all(utilisation)},
          {of_gpu("gpu.throttled.thermal_hardware", MetricKind::kGauge), reasons},
          {of_gpu("gpu.clock.sm", MetricKind::kGauge), clocks},
          {of_gpu("gpu.pcie.generation", MetricKind::kGauge), all(generation)},
          {of_gpu("gpu.pcie.generation.max", MetricKind::kGauge), all(5)},
          {of_gpu("gpu.pcie.width", MetricKind::kGauge), all(16)},
          {of_gpu("gpu.pcie.width.max", MetricKind::kGauge), all(16)}};
}

TEST(GpuThrottled, HotInAFifthOfTheSamples) {
  TestRun run;
  run.sample_together(gpu(0.9, 0.2), kHalfSecond);
  const Verdict verdict = judged(run, "GPUThrottled");
  ASSERT_EQ(verdict.outcome, Outcome::kFired);
  EXPECT_EQ(verdict.severity, Severity::kWarning);
  EXPECT_NEAR(evidence_value(verdict, "throttled_share"), 0.2, 1e-6);
  EXPECT_NEAR(evidence_value(verdict, "step_share"), 0.1, 1e-6);
  EXPECT_EQ(evidence_value(verdict, "gain_min"), 1);
}

TEST(GpuThrottled, IdleOnesAndColdOnes) {
  TestRun idle;
  idle.sample_together(gpu(0.1, 0.9, 1), kHalfSecond);
  EXPECT_EQ(judged(idle, "GPUThrottled").outcome, Outcome::kOk);
  TestRun cold;
  cold.sample_together(gpu(0.9, 0), kHalfSecond);
  EXPECT_EQ(judged(cold, "GPUThrottled").outcome, Outcome::kOk);
}

TEST(GpuThrottled, ANarrowLinkIsANote) {
  TestRun run;
  run.sample_together(gpu(0.9, 0, 3), kHalfSecond);
  const Verdict verdict = judged(run, "GPUThrottled");
  ASSERT_EQ(verdict.outcome, Outcome::kFired);
  EXPECT_EQ(verdict.severity, Severity::kInfo);
  EXPECT_EQ(evidence_value(verdict, "generation"), 3);
}

Verdict roofline_of(double tensor, double dram, double utilisation, int count = 40) {
  const auto all = [&](double value) { return std::vector<double>(static_cast<std::size_t>(count), value); };
  TestRun run;
  run.sample_together({{of_gpu("gpu.tensor.activity"), all(tensor)},
                       {of_gpu("gpu.dram.activity"), all(dram)},
                       {of_gpu("gpu.utilisation"), all(utilisation)}},
                      kHalfSecond);
  return judged(run, "Roofline");
}

TEST(Roofline, NotesByWhatAGpuIsBound) {
  EXPECT_NE(roofline_of(0.1, 0.8, 1).message.find("bound by its memory"), std::string::npos);
  EXPECT_NE(roofline_of(0.8, 0.5, 1).message.find("bound by arithmetic"), std::string::npos);
  EXPECT_NE(roofline_of(0.1, 0.2, 0.9).message.find("neither"), std::string::npos);
  EXPECT_EQ(roofline_of(0.1, 0.8, 1).severity, Severity::kInfo);
  EXPECT_EQ(roofline_of(0.1, 0.2, 0.3).outcome, Outcome::kOk);
  EXPECT_EQ(roofline_of(0.1, 0.8, 1, 5).outcome, Outcome::kInsufficientData);
  TestRun without;
  without.sample_together({{of_gpu("gpu.utilisation"), {1, 1}}}, kHalfSecond);
  EXPECT_EQ(judged(without, "Roofline").outcome, Outcome::kNotApplicable);
}

Verdict fragmented(double peak_gib, double reserved_gib, std::int64_t steps) {
  constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
  TestRun run;
  for (std::int64_t step = 0; step < steps; ++step) {
    run.add({.step = step,
             .tensors = {signal("trainwarden/memory/device_peak_bytes", peak_gib * kGiB),
                         signal("trainwarden/memory/device_reserved_bytes", reserved_gib * kGiB)},
             .mode = Mode::kTrain});
  }
  return judge(run, "MemoryFragmentation").rbegin()->second;
}

TEST(MemoryFragmentation, ReservedAndNeverInUse) {
  const Verdict verdict = fragmented(4, 8, 10);
  ASSERT_EQ(verdict.outcome, Outcome::kFired);
  EXPECT_NEAR(evidence_value(verdict, "lost_share"), 0.5, 1e-6);
  EXPECT_EQ(evidence_value(verdict, "gain"), 1);
  EXPECT_EQ(fragmented(7, 8, 10).outcome, Outcome::kOk);
  EXPECT_EQ(fragmented(0.5, 1, 10).outcome, Outcome::kOk);
  EXPECT_EQ(fragmented(4, 8, 4).outcome, Outcome::kInsufficientData);
  TestRun silent;
  silent.add_steps(0, 3);
  EXPECT_EQ(judge(silent, "MemoryFragmentation").at(3).outcome, Outcome::kNotApplicable);
}

}  // namespace
}  // namespace trainwarden::rules
