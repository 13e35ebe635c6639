#include "tune/optuna/past_study.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "store/storage/memory_storage.h"
#include "tune/study/study.h"

namespace trainwarden::tune {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

OptunaParameter number(const std::string& name, double min, double max, double value) {
  return {{.name = name, .min = min, .max = max}, value};
}

OptunaTrial complete(std::int64_t trial, std::vector<OptunaParameter> parameters, double value) {
  OptunaTrial one{.number = trial, .state = TrialState::kComplete, .values = {value}};
  for (OptunaParameter& each : parameters) one.parameters[each.range.name] = each;
  return one;
}

OptunaStudy study_of(std::vector<OptunaTrial> trials) {
  return {.name = "theirs", .goals = {Goal::kMinimize}, .metric_names = {}, .trials = std::move(trials)};
}

TEST(PastStudyTest, IsAStudyWithItsTrialsAndTimes) {
  OptunaTrial first = complete(0, {number("x", 0, 1, 0.25)}, 3);
  first.start_unix_ns = 2'000'000'000, first.end_unix_ns = 5'000'000'000;
  first.steps = {{0, 4.0}, {5, kNaN}};
  first.attributes = {{"note", "[1]"}};
  OptunaTrial running = complete(1, {number("x", 0, 2, 1.5), number("y", 1, 2, 1)}, kNaN);
  running.state = TrialState::kRunning;
  OptunaTrial waiting{.number = 2};
  auto past = past_of(study_of({first, running, waiting}), 9);
  ASSERT_TRUE(past.ok()) << past.status().message();
  EXPECT_EQ(past->left_out, 1u);
  past->spec.name = "ours";
  const std::shared_ptr<storage::MemoryStorage> memory = storage::create_memory_storage();
  const storage::Location studies(memory, "studies");
  FakeClock clock;
  Study study = *Study::create(studies, past->spec, clock);
  ASSERT_TRUE(study.add_past(past->events).ok());
  const Study again = *Study::open(studies, "ours", clock);
  EXPECT_EQ(again.damaged(), 0);
  const History& history = again.state().history();
  EXPECT_EQ(history.space[0].max, 2);
  EXPECT_EQ(history.trials[0].point[0], 0.25);
  EXPECT_TRUE(std::isnan(history.trials[0].point[1]));
  EXPECT_EQ(history.trials[0].values[0], 3);
  EXPECT_EQ(history.trials[0].series[0].size(), 2u);
  EXPECT_EQ(again.state().record(0).seconds, 3);
  EXPECT_EQ(again.state().record(0).attributes.at("note"), "[1]");
  EXPECT_EQ(history.trials[1].state, TrialState::kFailed);
}

TEST(PastStudyTest, RangesAndChoicesAreThoseOfAllTrials) {
  OptunaParameter kind{{.name = "kind", .kind = ParameterKind::kChoice, .choices = {"a", "b"}}, 1};
  OptunaParameter other{{.name = "kind", .kind = ParameterKind::kChoice, .choices = {"c", "b"}}, 0};
  OptunaParameter log = number("x", 1, 2, 1);
  log.range.log = true;
  const auto past = past_of(study_of({complete(0, {kind, log}, 1), complete(1, {other, number("x", 0, 1, 0)}, 2)}), 9);
  ASSERT_TRUE(past.ok());
  EXPECT_EQ(past->spec.space[0].choices, (std::vector<TriedValue>{"a", "b", "c"}));
  EXPECT_FALSE(past->spec.space[1].log);
  EXPECT_EQ(past->events[0].values.at("kind"), TriedValue("b"));
  const auto mixed = past_of(study_of({complete(0, {kind}, 1), complete(1, {number("kind", 0, 1, 0)}, 2)}), 9);
  EXPECT_EQ(mixed.status().code(), Code::kFailedPrecondition);
  EXPECT_NE(mixed.status().message().find("one of a, b"), std::string::npos);
}

TEST(PastStudyTest, MetricsKeepTheirOrder) {
  OptunaStudy two{.name = "two", .goals = {Goal::kMinimize, Goal::kMaximize}, .metric_names = {"loss", "accuracy"}};
  EXPECT_EQ(past_of(two, 1)->spec.metrics[0].name, "0_loss");
  two.metric_names = {"accuracy", "loss"};
  EXPECT_EQ(past_of(two, 1)->spec.metrics[1].name, "loss");
  two.metric_names.clear();
  EXPECT_EQ(past_of(two, 1)->spec.metrics[1].name, "value_1");
  EXPECT_EQ(past_of(two, 1)->spec.metrics[1].goal, Goal::kMaximize);
}

}  // namespace
}  // namespace trainwarden::tune
