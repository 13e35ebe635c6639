#include "work/log_metrics/metric_reader.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/log.h"

namespace trainwarden::log_metrics {
namespace {

// Two metrics of seed 002's job: "loss: " also stands within "val_loss: ".
constexpr const char* kTrainLoss = "loss: ([0-9\\.]+)";
constexpr const char* kEvalLoss = "val_loss: ([0-9\\.]+)";
constexpr std::string_view kKerasLine = "782/782 - 9s - loss: 0.4100 - acc: 0.85 - val_loss: 0.4070 - val_acc: 0.86";

MetricReader reader_of(const std::vector<std::string>& regexes, bool strict = false,
                       MatchChoice match = MatchChoice::kFirst) {
  DefinitionSet set;
  set.strict = strict;
  for (const std::string& regex : regexes) {
    MetricDefinition definition;
    definition.name = "m" + std::to_string(set.definitions.size());
    definition.regex = regex;
    definition.match = match;
    set.definitions.push_back(definition);
  }
  Result<MetricReader> reader = MetricReader::create(set);
  EXPECT_TRUE(reader.ok()) << reader.status().to_string();
  return std::move(reader).value();
}

using Found = std::vector<std::pair<std::size_t, double>>;

Found found(MetricReader& reader, std::string_view record) {
  Found result;
  for (const MetricValue& value : reader.read(record)) result.emplace_back(value.definition, value.value);
  return result;
}

TEST(MetricReader, FindsAPatternAnywhereAndTakesItsFirstMatch) {
  MetricReader reader = reader_of({kTrainLoss, kEvalLoss});
  EXPECT_EQ(found(reader, kKerasLine), (Found{{0, 0.41}, {1, 0.407}}));
  EXPECT_EQ(found(reader, "nothing here"), Found{});
  EXPECT_EQ(reader.counts()[0].values, 1u);
}

TEST(MetricReader, KeepsThePatternsExactMeaning) {
  // The defect of seed 002 is shown by the linter, not repaired in silence.
  MetricReader reader = reader_of({kTrainLoss, kEvalLoss});
  EXPECT_EQ(found(reader, "val_loss: 0.407"), (Found{{0, 0.407}, {1, 0.407}}));
  EXPECT_EQ(found(reader, "loss: 1.2e-05"), (Found{{0, 1.2}}));
  EXPECT_EQ(found(reader, "loss: nan"), Found{});
}

TEST(MetricReader, StrictSetsGiveAPlaceToTheLongerBeginningOnly) {
  for (const std::vector<std::string>& regexes :
       {std::vector<std::string>{kTrainLoss, kEvalLoss}, std::vector<std::string>{kEvalLoss, kTrainLoss}}) {
    MetricReader reader = reader_of(regexes, true);
    const std::size_t train = regexes[0] == kTrainLoss ? 0 : 1;
    EXPECT_EQ(found(reader, "val_loss: 0.407"), (Found{{1 - train, 0.407}}));
    EXPECT_EQ(found(reader, "val_loss: 0.4 loss: 0.5").size(), 2u);
    for (const MetricValue& value : reader.read("val_loss: 0.4 loss: 0.5")) {
      EXPECT_EQ(value.value, value.definition == train ? 0.5 : 0.4);
    }
  }
}

TEST(MetricReader, LastAndAllMatches) {
  MetricReader last = reader_of({"x=(\\d+)"}, false, MatchChoice::kLast);
  EXPECT_EQ(found(last, "x=1 x=2 x=3"), (Found{{0, 3}}));
  EXPECT_EQ(last.counts()[0].values, 1u);
  MetricReader all = reader_of({"x=(\\d+)"}, false, MatchChoice::kAll);
  EXPECT_EQ(found(all, "x=1 x=2 x=3"), (Found{{0, 1}, {0, 2}, {0, 3}}));
  MetricReader empty = reader_of({"(x?)"}, false, MatchChoice::kAll);
  EXPECT_EQ(found(empty, "yyy"), Found{});  // and comes to an end
  EXPECT_EQ(empty.counts()[0].parse_errors, 4u);
}

TEST(MetricReader, TheValueIsTheFirstGroupThatTookPart) {
  MetricReader reader = reader_of({"loss=([0-9.]+)|perte=([0-9.]+)"});
  EXPECT_EQ(found(reader, "perte=0.25"), (Found{{0, 0.25}}));
  MetricReader whole = reader_of({"[0-9]+"});
  EXPECT_EQ(found(whole, "epoch 12"), (Found{{0, 12}}));
}

TEST(MetricReader, AGroupCalledStepIsTheStep) {
  MetricReader reader = reader_of({R"(step (?<step>\S+): loss (\S+))"});
  const std::vector<MetricValue> values = reader.read("step 40: loss 0.5");
  ASSERT_EQ(values.size(), 1u);
  EXPECT_EQ(values[0].step, 40);
  EXPECT_EQ(values[0].value, 0.5);
  const std::vector<MetricValue>& without = reader.read("step many: loss -inf");
  ASSERT_EQ(without.size(), 1u);
  EXPECT_EQ(without[0].step, std::nullopt);
  EXPECT_TRUE(std::isinf(without[0].value));
}

TEST(MetricReader, WhatIsNoNumberIsCountedAndShown) {
  MetricReader reader = reader_of({kTrainLoss});
  EXPECT_EQ(found(reader, "loss: ."), Found{});
  EXPECT_EQ(found(reader, "loss: 1.2.3"), Found{});
  EXPECT_EQ(reader.counts()[0].parse_errors, 2u);
  EXPECT_EQ(reader.counts()[0].first_unreadable, ".");
  EXPECT_EQ(reader.counts()[0].values, 0u);
}

TEST(MetricReader, ASearchWithoutEndIsSwitchedOff) {
  set_log_sink([](LogLevel, std::string_view) {});
  MetricReader reader = reader_of({"(x+x+)+[yz]", "n=(\\d)"});
  const std::string record = std::string(60, 'x') + " n=1";
  for (std::uint64_t i = 1; i <= kMaxGivenUp + 2; ++i) {
    EXPECT_EQ(found(reader, record), (Found{{1, 1}}));
    EXPECT_EQ(reader.counts()[0].given_up, std::min(i, kMaxGivenUp));
    EXPECT_EQ(reader.counts()[0].switched_off, i >= kMaxGivenUp);
  }
  set_log_sink({});
}

TEST(MetricReader, APatternThatDoesNotCompileIsAnError) {
  DefinitionSet set;
  set.definitions.push_back({.name = "a", .regex = "(", .place = {}});
  EXPECT_EQ(MetricReader::create(set).status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace trainwarden::log_metrics
