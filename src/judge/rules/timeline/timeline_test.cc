// Windows of time: which come, in which order, with what, and how much is held for them.
#include "judge/rules/timeline/timeline.h"

#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include "read/trial/run_testing.h"

namespace trainwarden::rules {
namespace {

constexpr std::int64_t kSec = 1'000'000'000;
const Metric kUse = {"memory", "bytes", MetricKind::kGauge, MetricSource::kHost, ""};
const Metric kFan = {"fan", "", MetricKind::kRatio, MetricSource::kDevice, "GPU-0"};

TimeSchedule schedule_of(std::string pattern, std::int64_t window_s, std::int64_t cadence_s) {
  return {{{std::move(pattern)}, {}}, window_s * kSec, cadence_s * kSec};
}

std::vector<double> values(std::size_t count) {
  std::vector<double> all(count);
  std::iota(all.begin(), all.end(), 0.0);
  return all;
}

struct TimelineOf {
  explicit TimelineOf(TestRun& run, std::vector<TimeSchedule> schedules)
      : trial(run.open()), timeline(*trial, run.clock()), start(run.info().created_unix_ns) {
    for (const TimeSchedule& schedule : schedules) EXPECT_TRUE(timeline.add(schedule).ok());
  }
  // "end in seconds from the run's start: rules with numbers of samples" of all that is due.
  std::vector<std::string> take(bool ended = true) {
    EXPECT_TRUE(trial->refresh().ok());
    EXPECT_TRUE(timeline.refresh(ended).ok());
    std::vector<std::string> windows;
    for (;;) {
      const auto due = timeline.next();
      EXPECT_TRUE(due.ok()) << due.status().to_string();
      if (!due.ok() || !*due) return windows;
      std::string text = std::to_string(((*due)->to_unix_ns - start) / kSec) + ":";
      for (const std::size_t rule : (*due)->rules) {
        text += " " + std::to_string(rule) + "=";
        for (const MetricSeries& series : timeline.window(rule, **due).series) {
          text += std::to_string(series.samples.size()) + ",";
        }
      }
      windows.push_back(text);
    }
  }

  std::unique_ptr<Trial> trial;
  Timeline timeline;
  std::int64_t start;
};

using Windows = std::vector<std::string>;

TEST(Timeline, WindowsOfSeveralRulesComeInTheOrderOfTime) {
  TestRun run;
  run.sample(kUse, values(10), kSec);
  run.end();
  TimelineOf both(run, {schedule_of("memory", 2, 2), schedule_of("mem", 4, 3)});
  // The clock of a test run starts at 1.7e9 s: the multiples of 2 and 3 are 2, 4, ... and 1, 4, 7, 10.
  EXPECT_EQ(both.take(),
            (Windows{"1: 1=1,", "2: 0=2,", "4: 0=2, 1=4,", "6: 0=2,", "7: 1=4,", "8: 0=2,", "9: 0=2, 1=4,"}));
  EXPECT_TRUE(both.timeline.drained());
}

TEST(Timeline, TheLastWindowsEndBehindTheLastSample) {
  TestRun run;
  run.sample(kUse, values(3), kSec);
  run.end();
  TimelineOf one(run, {schedule_of("memory", 60, 60)});
  EXPECT_EQ(one.take(), (Windows{"2: 0=3,"}));
  EXPECT_TRUE(one.timeline.drained());
}

TEST(Timeline, AWindowWaitsForSamplesOfWorkersThatLive) {
  TestRun run(2);
  run.sample(kUse, values(1), 1, 0);
  run.sample(kUse, values(1), 1, 1);
  TimelineOf one(run, {schedule_of("memory", 10, 5)});
  run.sample(kUse, values(8), kSec, 0);
  EXPECT_EQ(one.take(false), Windows()) << "the other worker has got to its first second only";
  run.sample(kUse, values(1), 1, 1);  // at 8 s
  EXPECT_EQ(one.take(false), (Windows{"5: 0=6,1,"}));
  run.sample(kUse, values(29), kSec, 0);
  run.kill(1);
  EXPECT_EQ(one.take(false).size(), 6u) << "who is gone is not waited for";
}

TEST(Timeline, AWorkerWhoseSamplerIsSilentIsWaitedForOnlySoLong) {
  TestRun run;
  run.sample(kUse, values(3), kSec);
  TimelineOf one(run, {schedule_of("memory", 1, 1)});
  EXPECT_EQ(one.take(false).size(), 1u);
  run.clock().advance_ns(kSilentSamplerNs);
  EXPECT_EQ(one.take(false).size(), 1u) << "the second at which more could have come";
}

TEST(Timeline, ARunThatRestedForAYearIsNotLookedThroughSecondBySecond) {
  TestRun run;
  for (int i = 0; i < 3; ++i) {
    run.sample(kUse, values(2), kSec);
    run.clock().advance_ns(365 * 24 * 3600 * kSec);
  }
  run.end();
  TimelineOf one(run, {schedule_of("memory", 1, 1)});
  EXPECT_EQ(one.take().size(), 6u);
}

TEST(Timeline, TicksOfManyCenturiesAreNoWorkForEver) {
  TestRun run;
  run.sample(kUse, {1, 2}, std::int64_t{1} << 61);
  run.end();
  TimelineOf one(run, {schedule_of("memory", 1, 1)});
  EXPECT_LE(one.take().size(), 3u);
  EXPECT_TRUE(one.timeline.drained());
}

TEST(Timeline, MetricsAreChosenByNameAndSource) {
  TestRun run;
  run.sample(kUse, values(2), kSec);
  run.sample(kFan, values(2), kSec);
  run.end();
  TimeSchedule devices = schedule_of("", 10, 10);
  devices.metrics.sources = {MetricSource::kDevice};
  TimelineOf one(run, {devices, schedule_of("", 10, 10), schedule_of("^em", 10, 10)});
  EXPECT_EQ(one.take(), (Windows{"3: 0=2, 1=2,2,"}));
}

TEST(Timeline, ARuleThatIsDroppedIsNotWaitedFor) {
  TestRun run;
  run.sample(kUse, values(4), kSec);
  run.end();
  TimelineOf one(run, {schedule_of("memory", 1, 1), schedule_of("memory", 2, 2)});
  one.timeline.drop(0);
  EXPECT_EQ(one.take(), (Windows{"2: 1=2,", "3: 1=2,"}));
  one.timeline.drop(1);
  EXPECT_TRUE(one.timeline.empty());
  EXPECT_TRUE(one.timeline.drained());
}

TEST(SampleRings, HoldNoMoreThanTheyMay) {
  TestRun run;
  const std::vector<double> many(200'000, 1.0);
  for (int i = 0; i < 21; ++i) run.sample(kUse, many, 1);
  run.end();
  const auto trial = run.open();
  SampleRings rings;
  ASSERT_TRUE(rings.add({{"memory"}, {}}).ok());
  rings.find_metrics(*trial);
  const std::int64_t start = run.info().created_unix_ns;
  EXPECT_EQ(rings.read(start, start + 1'000'000).value(), 1'000'000u);
  EXPECT_EQ(rings.read(start + 1'000'000, start + 5'000'000).status().code(), Code::kResourceExhausted);
  rings.forget_before(start + 900'000);
  EXPECT_EQ(rings.series(0, 0, start + 1'000'000).at(0).samples.size(), 100'000u);
}

}  // namespace
}  // namespace trainwarden::rules
