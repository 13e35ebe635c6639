// Rules over windows of time in the engine: the same answers, statuses and journal as rules over steps.
#include <algorithm>
#include <limits>
#include <stdexcept>

#include <gtest/gtest.h>

#include "judge/rules/engine.h"
#include "judge/rules/rule_history.h"
#include "read/trial/run_testing.h"
#include "store/journal/all_events.h"
#include "store/journal/journal_reader.h"

namespace trainwarden::rules {
namespace {

constexpr std::int64_t kTenthNs = 100'000'000;
constexpr std::int64_t kOneSecondNs = 1'000'000'000;
const Metric kHeat = {"temperature", "celsius", MetricKind::kGauge, MetricSource::kDevice, "GPU-0"};
const Metric kLoad = {"cpu", "", MetricKind::kRatio, MetricSource::kHost, ""};

TimeSchedule each_second(std::string pattern = "^temperature$") {
  return {{{std::move(pattern)}, {}}, kOneSecondNs, kOneSecondNs};
}

// What it was shown: `from` to `to`, last step, number of series, number of samples of the first.
struct Shown {
  std::int64_t to_unix_ns;
  std::int64_t last_step;
  std::size_t series;
  std::size_t samples;
  friend bool operator==(const Shown&, const Shown&) = default;
};

// Fires when the mean of the first metric of a window is above a limit.
class MeanAbove final : public TimeRule {
 public:
  MeanAbove(double limit, TimeSchedule schedule, std::vector<Shown>* shown)
      : limit_(limit), schedule_(std::move(schedule)), shown_(shown) {}
  std::optional<TimeSchedule> schedule() const override { return schedule_; }
  Verdict evaluate_time(const TimeWindow& window) override {
    const MetricSeries& first = window.series[0];
    if (shown_ != nullptr) {
      shown_->push_back({window.to_unix_ns, window.last_step, window.series.size(), first.samples.size()});
    }
    EXPECT_EQ(window.to_unix_ns - window.from_unix_ns, schedule_.window_ns);
    if (first.samples.size() < 2) return Verdict::insufficient_data("one sample is no mean");
    double sum = 0;
    for (const Sample& sample : first.samples) {
      EXPECT_GE(sample.unix_ns, window.from_unix_ns);
      EXPECT_LT(sample.unix_ns, window.to_unix_ns);
      sum += sample.value;
    }
    const double mean = sum / static_cast<double>(first.samples.size());
    if (!(mean > limit_)) return Verdict::ok();
    Verdict verdict{Outcome::kFired, Severity::kWarning, "it is hot", "cool it", {}};
    verdict.evidence.push_back({.quantity = "mean",
                                .value = mean,
                                .threshold = limit_,
                                .global_step = window.last_step,
                                .metric = first.metric.name,
                                .unix_ns = first.samples.back().unix_ns});
    return verdict;
  }

 private:
  const double limit_;
  const TimeSchedule schedule_;
  std::vector<Shown>* const shown_;
};

class ThrowingTimeRule final : public TimeRule {
 public:
  std::optional<TimeSchedule> schedule() const override { return each_second(); }
  Verdict evaluate_time(const TimeWindow&) override { throw std::runtime_error("out of ideas"); }
};

EngineRule mean_above(double limit, std::vector<Shown>* shown = nullptr, TimeSchedule schedule = each_second()) {
  return {{"MeanAbove", {}}, std::make_unique<MeanAbove>(limit, std::move(schedule), shown)};
}

struct TimeWatch {
  TimeWatch(TestRun& run, std::vector<EngineRule> rules, bool keep_going = false, std::vector<std::string> mute = {})
      : trial(run.open()), storage(run.storage()) {
    EngineOptions options;
    options.keep_going = keep_going;
    options.journal_storage = storage.get();
    options.clock = &run.clock();
    options.mute = std::move(mute);
    engine = std::make_unique<Engine>(*trial, std::move(rules), options,
                                      [this](const VerdictRecord& record) { reported.push_back(record); });
  }
  void poll() { ASSERT_TRUE(engine->poll().ok()); }

  std::unique_ptr<Trial> trial;
  std::shared_ptr<storage::MemoryStorage> storage;
  std::vector<VerdictRecord> reported;
  std::unique_ptr<Engine> engine;
};

template <class... Rules>
std::vector<EngineRule> rules_of(Rules... rules) {
  std::vector<EngineRule> list;
  (list.push_back(std::move(rules)), ...);
  return list;
}

// Four seconds at ten ticks each, a step in each; hot in the third.
void write_hot_run(TestRun& run) {
  for (std::int64_t second = 0; second < 4; ++second) {
    run.sample(kHeat, std::vector<double>(9, second == 2 ? 90 : 60), kTenthNs);
    run.add({.step = second});
    run.clock().advance_ns(kTenthNs - 1'000'000);  // a step takes a millisecond of the clock
  }
}

// Of the engine's journal.
template <class Record>
std::vector<Record> written(const TestRun& run, Result<std::optional<Record>> (*decode)(std::string_view)) {
  const auto reader = journal::JournalReader::open(*run.storage(), run.info(), "watch-0", {});
  EXPECT_TRUE(reader.ok()) << reader.status().to_string();
  std::vector<Record> records;
  for (const journal::EventEntry& event : journal::all_events(**reader)) {
    const auto record = decode(event.json);
    if (record.ok() && *record) records.push_back(**record);
  }
  return records;
}

TEST(EngineTime, ASampledMetricIsJudgedAndItsVerdictIsInTheJournal) {
  TestRun run;
  const std::int64_t start = run.clock().unix_ns();
  write_hot_run(run);
  run.end();
  TimeWatch watch(run, rules_of(mean_above(80)));
  watch.poll();
  EXPECT_TRUE(watch.engine->run_ended());
  watch.engine->finish();
  ASSERT_EQ(watch.reported.size(), 1u);
  const VerdictRecord& verdict = watch.reported[0];
  EXPECT_EQ(verdict.place.global_step, 2);
  EXPECT_EQ(verdict.place.from_unix_ns, start + 2 * kOneSecondNs);
  EXPECT_EQ(verdict.place.to_unix_ns, start + 3 * kOneSecondNs);
  EXPECT_EQ(place_text(verdict.place), "2023-11-14 22:13:23 UTC (after step 2)");
  EXPECT_EQ(verdict.mute_key(), "MeanAbove:temperature");
  EXPECT_TRUE(verdict.alarms());
  const RuleStatusRecord status = watch.engine->statuses().at(0);
  EXPECT_EQ(status.status, RuleStatus::kIssuesFound);
  EXPECT_EQ(status.details, "fired at 2023-11-14 22:13:23 UTC (after step 2): it is hot");
  EXPECT_EQ(status.outcomes, OutcomeCounts{}) << "it judges no step";
  EXPECT_EQ(status.windows, (OutcomeCounts{2, 1, 0, 0, 0}));

  const auto records = written(run, decode_verdict);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].place, verdict.place);
  EXPECT_EQ(records[0].verdict.evidence.at(0).metric, "temperature");
  EXPECT_EQ(records[0].verdict.evidence.at(0).unix_ns, start + 2 * kOneSecondNs + 8 * kTenthNs);
}

TEST(EngineTime, TheSameWindowsComeBesideALiveRunAndLater) {
  std::vector<Shown> live, later;
  TestRun run;
  TimeWatch beside(run, rules_of(mean_above(1000, &live)));
  for (std::int64_t second = 0; second < 7; ++second) {
    if (second != 4) run.sample(kHeat, std::vector<double>(10, 60), kTenthNs);
    if (second == 4) run.clock().advance_ns(kOneSecondNs);  // nothing is sampled
    run.add({.step = second});
    beside.poll();
  }
  run.sample(kHeat, {60, 60}, kTenthNs);
  EXPECT_LT(live.size(), 7u) << "what may still get samples is not judged";
  run.end();
  beside.poll();
  TimeWatch recorded(run, rules_of(mean_above(1000, &later)));
  recorded.poll();
  EXPECT_EQ(live, later);
  ASSERT_EQ(live.size(), 7u);
  EXPECT_EQ(live[0].samples, 10u);
  EXPECT_EQ(live[3].to_unix_ns - live[0].to_unix_ns, 3 * kOneSecondNs);
  EXPECT_EQ(live[4].to_unix_ns - live[3].to_unix_ns, 2 * kOneSecondNs) << "a window without samples is passed over";
  EXPECT_EQ(live[0].last_step, -1) << "the first step ended with the window";
  EXPECT_EQ(live[1].last_step, 0);
}

TEST(EngineTime, WindowsAndStepsAreJudgedInTheOrderOfTime) {
  TestRun run;
  write_hot_run(run);
  run.end();
  std::vector<EngineRule> rules = rules_of(mean_above(80));
  class LastStep final : public Rule {
   public:
    Verdict evaluate(const StepWindow& window) override {
      if (window.global_step() < 3) return Verdict::ok();
      return {Outcome::kFired, Severity::kWarning, "the last", "", {}};
    }
  };
  rules.insert(rules.begin(), {{"LastStep", {}}, std::make_unique<LastStep>()});
  TimeWatch watch(run, std::move(rules));
  watch.poll();
  ASSERT_EQ(watch.reported.size(), 2u);
  EXPECT_EQ(watch.reported[0].rule_id, "MeanAbove");
  EXPECT_EQ(watch.reported[1].rule_id, "LastStep");
}

TEST(EngineTime, ARuleThatThrowsIsParkedAndTheOthersGoOn) {
  TestRun run;
  write_hot_run(run);
  run.end();
  TimeWatch watch(run, rules_of(EngineRule{{"Throws", {}}, std::make_unique<ThrowingTimeRule>()}, mean_above(80)));
  watch.poll();
  watch.engine->finish();
  const auto statuses = watch.engine->statuses();
  EXPECT_EQ(statuses[0].status, RuleStatus::kError);
  EXPECT_EQ(statuses[0].windows, (OutcomeCounts{0, 0, 0, 0, 1})) << "it is asked no more";
  EXPECT_NE(statuses[0].details.find("out of ideas"), std::string::npos) << statuses[0].details;
  EXPECT_EQ(statuses[1].status, RuleStatus::kIssuesFound);
}

TEST(EngineTime, AScheduleThatCannotBeIsTheRulesFailure) {
  TestRun run;
  write_hot_run(run);
  run.end();
  TimeSchedule no_length = each_second();
  no_length.window_ns = 0;
  TimeWatch watch(run, rules_of(mean_above(80, nullptr, no_length), mean_above(80, nullptr, each_second("("))));
  watch.poll();
  EXPECT_TRUE(watch.engine->run_ended());
  for (const RuleStatusRecord& status : watch.engine->statuses()) EXPECT_EQ(status.status, RuleStatus::kError);
}

TEST(EngineTime, RepeatsAreFoldedAndToldWithTheirTimes) {
  TestRun run;
  const std::int64_t start = run.clock().unix_ns();
  write_hot_run(run);
  run.end();
  TimeWatch watch(run, rules_of(mean_above(10)), true);
  watch.poll();
  watch.engine->finish();
  EXPECT_EQ(watch.reported.size(), 1u);
  const auto all = written(run, decode_repeats);
  ASSERT_EQ(all.size(), 1u);
  const RepeatsRecord& repeats = all[0];
  EXPECT_EQ(repeats.count, 3u);
  EXPECT_EQ(repeats.first_to_unix_ns, start + kOneSecondNs);
  EXPECT_EQ(repeats.last_to_unix_ns - repeats.first_to_unix_ns, 3 * kOneSecondNs - kTenthNs * 2 + 1)
      << "the last window ends behind the last sample";
}

// Not by their step alone, which two windows may share.
TEST(EngineTime, AnEngineThatStartsAnewTellsNoWindowTwiceAndNoneIsLost) {
  TestRun run;
  for (const double degrees : {90, 60, 90}) run.sample(kHeat, std::vector<double>(10, degrees), kTenthNs);
  run.end();
  for (int i = 0; i < 2; ++i) {
    TimeWatch watch(run, rules_of(mean_above(80)), true);
    watch.poll();
    EXPECT_EQ(watch.reported.size(), 2u);
    watch.engine->finish();
  }
  const auto histories = read_rule_histories(storage::Location(run.storage()));
  ASSERT_TRUE(histories.ok()) << histories.status().to_string();
  ASSERT_EQ(histories->size(), 1u);
  ASSERT_EQ(histories->at(0).verdicts.size(), 2u);
  EXPECT_EQ(histories->at(0).verdicts[1].place.to_unix_ns - histories->at(0).verdicts[0].place.to_unix_ns,
            2 * kOneSecondNs - kTenthNs + 1);
}

TEST(EngineTime, MutedAndExplainedAsVerdictsOnStepsAre) {
  TestRun run;
  write_hot_run(run);
  run.end();
  TimeWatch muted(run, rules_of(mean_above(80)), false, {"MeanAbove:temperature"});
  muted.poll();
  ASSERT_EQ(muted.reported.size(), 1u);
  EXPECT_TRUE(muted.reported[0].muted);

  std::vector<EngineRule> rules = rules_of(mean_above(80));
  class FirstStep final : public Rule {
   public:
    Verdict evaluate(const StepWindow&) override { return {Outcome::kFired, Severity::kWarning, "why", "", {}}; }
  };
  rules.push_back({{"Cause", {}}, std::make_unique<FirstStep>(), {"MeanAbove"}});
  TimeWatch explained(run, std::move(rules));
  explained.poll();
  ASSERT_EQ(explained.reported.size(), 2u);
  EXPECT_EQ(explained.reported[1].consequence_of, "Cause");
}

TEST(EngineTime, WithoutSamplesOrWithTooFewThereIsNothingToJudge) {
  TestRun run;
  run.add_steps(0, 2);
  run.sample(kLoad, {1, 1, 1}, kTenthNs);
  run.sample(kHeat, {90}, kTenthNs);
  run.end();
  TimeWatch watch(run, rules_of(mean_above(80, nullptr, each_second("^memory$")), mean_above(80)));
  watch.poll();
  EXPECT_TRUE(watch.engine->run_ended());
  watch.engine->finish();
  const auto statuses = watch.engine->statuses();
  EXPECT_EQ(statuses[0].status, RuleStatus::kNotApplicable);
  EXPECT_EQ(statuses[0].details, "the run ended, and none of the metrics that it judges was sampled");
  EXPECT_EQ(statuses[1].status, RuleStatus::kNotApplicable);
  EXPECT_EQ(statuses[1].details,
            "the run ended, and in 1 windows of time there was never enough to judge: one sample is no mean");
}

TEST(EngineTime, ProgressTellsOfWindows) {
  TestRun run;
  write_hot_run(run);
  TimeWatch watch(run, rules_of(mean_above(1000)));
  EXPECT_EQ(watch.engine->statuses()[0].details, "no window of time to judge yet");
  watch.poll();
  EXPECT_EQ(watch.engine->statuses()[0].details, "judged 2 windows of time, nothing found");
  run.end();
  watch.poll();
  watch.engine->finish();
  EXPECT_EQ(watch.engine->statuses()[0].details, "judged 4 windows of time, nothing found");
  EXPECT_EQ(watch.engine->statuses()[0].status, RuleStatus::kNoIssuesFound);
}

}  // namespace
}  // namespace trainwarden::rules
