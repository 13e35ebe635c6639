#include "ui/views/metric_series.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "data/format/step_metric.h"
#include "read/trial/run_testing.h"
#include "ui/views/metric_frame.h"

namespace trainwarden::views {
namespace {

constexpr std::int64_t kMinuteNs = 60'000'000'000;
constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

// A run with a journal of printed metrics.
class MetricSeriesTest : public ::testing::Test {
 protected:
  MetricSeriesTest() {
    run_.add_steps(0, 1);
    writer_ = output_writer(run_, run_.info());
    open_ = std::make_shared<OpenRun>("run", run_.open());
  }

  static Metric metric(const std::string& name) { return {name, "", MetricKind::kGauge, MetricSource::kRank, "0"}; }

  // Values of metric `id`; those with a step have it as well.
  void print(std::uint32_t id, const std::string& name, std::vector<std::int64_t> ticks, std::vector<double> values,
             std::vector<double> steps = {}) {
    journal::SampleBatch batch;
    batch.new_metrics = {{2 * id, metric(name)}, {2 * id + 1, format::step_metric(metric(name))}};
    batch.tables = {{std::move(ticks), {{2 * id, std::move(values)}}}};
    if (!steps.empty()) batch.tables[0].series.push_back({2 * id + 1, std::move(steps)});
    const Status appended = writer_->append_samples(batch);
    ASSERT_TRUE(appended.ok()) << appended.message();
  }
  Series series(const std::string& name) {
    const auto use = open_->use(std::chrono::milliseconds(0)).value();
    for (const MetricChoice& choice : metric_choices(use.trial())) {
      if (choice.name == name) return read_metric_series(use, choice.id, {}).value();
    }
    ADD_FAILURE() << "no metric " << name;
    return {};
  }
  static std::vector<std::pair<std::int64_t, double>> points(const Series& series) {
    std::vector<std::pair<std::int64_t, double>> all;
    for (const SeriesPointOut& point : series.points) all.emplace_back(point.step, point.value);
    return all;
  }

  TestRun run_;
  std::unique_ptr<journal::JournalWriter> writer_;
  std::shared_ptr<OpenRun> open_;
};

using Points = std::vector<std::pair<std::int64_t, double>>;

TEST_F(MetricSeriesTest, StandsOverTheStepsThatWerePrinted) {
  print(0, "loss", {10, 20}, {3, 2}, {100, 200});
  const Series first = series("loss");
  EXPECT_EQ(points(first), (Points{{100, 3}, {200, 2}}));
  EXPECT_FALSE(first.counted);
  EXPECT_EQ(first.points[1].unix_ns, 20);
  const std::uint64_t version = open_->use()->version();
  print(0, "loss", {30}, {1}, {300});
  EXPECT_EQ(points(series("loss")), (Points{{100, 3}, {200, 2}, {300, 1}}));
  EXPECT_GT(open_->use()->version(), version) << "who looks is told";
}

TEST_F(MetricSeriesTest, AResumedTrainingReplacesTheStepsThatItTakesAgain) {
  print(0, "loss", {10, 20, 30}, {3, 2, 1}, {100, 200, 300});
  series("loss");
  print(0, "loss", {40, 50}, {2.5, 1.5}, {200, 300});
  EXPECT_EQ(points(series("loss")), (Points{{100, 3}, {200, 2.5}, {300, 1.5}}));
}

TEST_F(MetricSeriesTest, WithoutStepsValuesAreCounted) {
  print(0, "rate", {10, 20}, {5, kNoNumber});
  const Series counted = series("rate");
  EXPECT_TRUE(counted.counted);
  EXPECT_EQ(counted.all.nan, 1u);
  EXPECT_EQ(counted.last_step, 2);
  print(0, "rate", {30}, {7});
  EXPECT_EQ(series("rate").last_step, 3);
}

TEST_F(MetricSeriesTest, OneWithoutAStepHasAllCounted) {
  print(0, "loss", {10, 20}, {3, 2}, {100, 200});
  EXPECT_FALSE(series("loss").counted);
  print(0, "loss", {30}, {1});
  EXPECT_EQ(points(series("loss")), (Points{{1, 3}, {2, 2}, {3, 1}}));
}

TEST_F(MetricSeriesTest, AnUnknownIdIsNamed) {
  const auto use = open_->use().value();
  const Status status = read_metric_series(use, "0123456789abcdef", {}).status();
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_NE(status.message().find("0123456789abcdef"), std::string::npos);
}

TEST_F(MetricSeriesTest, AFrameAveragesOverPeriodsOfTheClock) {
  const std::int64_t minute = 1'000 * kMinuteNs;
  print(0, "loss", {minute + 59'000'000'000, minute + kMinuteNs, minute + kMinuteNs + 1}, {8, 2, 4}, {1, 2, 3});
  print(1, "acc", {minute + 2 * kMinuteNs, minute + 4 * kMinuteNs}, {kNoNumber, 1});
  const auto trial = run_.open();
  const auto rows = read_metric_frame(*trial, {}).value();
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].metric, "acc") << "without a report by name";
  EXPECT_TRUE(std::isnan(rows[0].value));
  EXPECT_EQ(rows[1].timestamp, 120);
  EXPECT_EQ(rows[2].value, 8);
  EXPECT_EQ(rows[2].timestamp, 0);
  EXPECT_EQ(rows[3].value, 3);
  EXPECT_EQ(rows[3].timestamp, 60) << "from the beginning of its minute to that of the first";
  EXPECT_EQ(rows[3].step, 3);
  EXPECT_EQ(rows[3].host, "rank-00000");
  const auto raw = read_metric_frame(*trial, {0, FrameStart::kEpoch}).value();
  ASSERT_EQ(raw.size(), 5u);
  EXPECT_DOUBLE_EQ(raw[2].timestamp, 60'059);
}

}  // namespace
}  // namespace trainwarden::views
