// Samples: what goes in comes out bit for bit, what is missing stays missing, and what is damaged is refused.
#include "data/format/samples_record.h"

#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/bytes.h"
#include "data/format/damage_testing.h"

namespace trainwarden::format {
namespace {

constexpr std::int64_t kStartNs = 1'700'000'000'000'000'000;
constexpr std::int64_t kTenthNs = 100'000'000;
constexpr std::int64_t kMinNs = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMaxNs = std::numeric_limits<std::int64_t>::max();

std::vector<std::int64_t> ticks(std::size_t count) {
  std::vector<std::int64_t> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(kStartNs + static_cast<std::int64_t>(i) * kTenthNs);
  return all;
}

SampleTable table_of(std::vector<double> values) {
  return {ticks(values.size()), {{7, std::move(values)}}};
}

// One series of each encoding, one with ticks missing.
SampleTable varied_table() {
  SampleTable table;
  table.ticks = ticks(10);
  table.series = {{0, {5, 5, 5, 5, 5, 5, 5, 5, 5, 5}},
                  {1, {12.5, 12.6, 12.4, 0, 12.3, 12.2, 12.1, 12, 11.9, 11.8}},
                  {4, {0, 100, 5'000, 6'000, 7'000, 8'000, 9'000, 10'000, 30'000, 30'001}},
                  {2, {1e12, 1e12 + 1e6, 1e12 + 2e6, 1e12 + 3e6, 1e12, 1e12, 1e12, 1e12, 1e12, 1e12 + 7}},
                  {3, {0.1, 1.0 / 3, 2, 3, 4, 5, 6, 7, 8, 9}},
                  {9, {1.5, 2.5}, {true, false, false, false, false, false, false, false, false, true}}};
  return table;
}

std::vector<std::vector<Sample>> expected_of(const SampleTable& table) {
  std::vector<std::vector<Sample>> all;
  for (const SampleSeries& series : table.series) {
    std::vector<Sample>& samples = all.emplace_back();
    std::size_t number = 0;
    for (std::size_t i = 0; i < table.ticks.size(); ++i) {
      if (!series.present.empty() && !series.present[i]) continue;
      samples.push_back({table.ticks[i], series.values[number++]});
    }
  }
  return all;
}

void expect_same(const std::vector<Sample>& found, const std::vector<Sample>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].unix_ns, expected[i].unix_ns) << i;
    EXPECT_EQ(std::bit_cast<std::uint64_t>(found[i].value), std::bit_cast<std::uint64_t>(expected[i].value)) << i;
  }
}

void expect_round_trip(const SampleTable& table) {
  ASSERT_TRUE(check_samples(table).ok()) << check_samples(table).to_string();
  const std::string payload = encode_samples(table);
  const auto reader = SampleTableReader::open(as_bytes(payload));
  ASSERT_TRUE(reader.ok()) << reader.status().to_string();
  EXPECT_EQ(reader->first_unix_ns(), table.ticks.front());
  EXPECT_EQ(reader->last_unix_ns(), table.ticks.back());
  const auto expected = expected_of(table);
  ASSERT_EQ(reader->series_count(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(reader->metric(i), table.series[i].metric);
    std::vector<Sample> found;
    reader->read(i, kMinNs, kMaxNs, found);
    expect_same(found, expected[i]);
  }
}

TEST(SamplesTest, EverythingComesBackBitForBit) {
  expect_round_trip(varied_table());
  expect_round_trip(table_of({42}));
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  expect_round_trip(table_of({nan, nan, nan}));
  expect_round_trip(table_of({0.0, -0.0, 0.0}));
  expect_round_trip(table_of({1, nan, inf, -inf, 5e-324, 1e308}));
  expect_round_trip(table_of({9007199254740992, 9007199254740991, -9007199254740992}));
  expect_round_trip(table_of({9007199254740994, 9007199254740996}));
  expect_round_trip(table_of({0.0001, 0.0003, 99.9999}));
  expect_round_trip(table_of({0.000001, 12.345678, 12.345679}));               // microseconds
  expect_round_trip(table_of({0.000000001, 1234.000000007, 1234.999999999}));  // nanoseconds
}

TEST(SamplesTest, WhatIsAskedForLiesInTheRange) {
  const std::string payload = encode_samples(varied_table());
  const auto reader = SampleTableReader::open(as_bytes(payload));
  ASSERT_TRUE(reader.ok());
  std::vector<Sample> found;
  reader->read(1, kStartNs + 2 * kTenthNs, kStartNs + 4 * kTenthNs, found);
  expect_same(found, {{kStartNs + 2 * kTenthNs, 12.4}, {kStartNs + 3 * kTenthNs, 0}});
}

TEST(SamplesTest, WhatIsMissingIsNotZero) {
  const std::string payload = encode_samples(varied_table());
  const auto reader = SampleTableReader::open(as_bytes(payload));
  ASSERT_TRUE(reader.ok());
  std::vector<Sample> found;
  reader->read(5, kStartNs + 1, kStartNs + 9 * kTenthNs, found);
  EXPECT_TRUE(found.empty());
}

TEST(SamplesTest, ATableThatIsNotAsItMustBeIsRefused) {
  const auto refused = [](const SampleTable& table, std::string_view why) {
    const Status status = check_samples(table);
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    EXPECT_NE(status.message().find(why), std::string::npos) << status.message();
  };
  refused({}, "none");
  refused({ticks(1), {}}, "none");
  refused({{5, 5}, {{0, {1, 2}}}}, "rise");
  refused({ticks(2), {{3, {1}}}}, "metric 3 has 1 values, expected 2");
  refused({ticks(2), {{3, {}, {false, false}}}}, "metric 3 has 0 values");
  refused({ticks(2), {{3, {1}, {true}}}}, "1 ticks");
  refused({ticks(2), {{3, {1, 2}}, {3, {1, 2}}}}, "metric 3 is there twice");
  refused({ticks(kMaxSamplesInFrame + 1), {{3, {}}}}, "more than");
}

TEST(SamplesTest, EveryTruncationIsDataLoss) {
  for_each_truncation(encode_samples(varied_table()), [](ByteSpan damaged) {
    EXPECT_EQ(SampleTableReader::open(damaged).status().code(), Code::kDataLoss);
  });
}

TEST(SamplesTest, NoFlippedBitReadsPastTheEnd) {
  for_each_flipped_bit(encode_samples(varied_table()), [](ByteSpan damaged) {
    const auto reader = SampleTableReader::open(damaged);
    if (!reader.ok()) {
      EXPECT_EQ(reader.status().code(), Code::kDataLoss);
      return;
    }
    std::vector<Sample> found;
    for (std::size_t i = 0; i < reader->series_count(); ++i) reader->read(i, kMinNs, kMaxNs, found);
    EXPECT_LE(found.size(), 60u);
  });
}

// 200 metrics of a host, ten times a second: a third does not change, a third are counters, a third are percentages.
TEST(SamplesTest, ASecondOfAHostTakesFewBytesASample) {
  for (const auto& [tick_count, most_bytes] : {std::pair<std::size_t, double>{10, 3.5}, {100, 1.8}}) {
    SampleTable table;
    table.ticks = ticks(tick_count);
    std::uint64_t state = 1;
    const auto random = [&](std::uint64_t below) {
      state = state * 6364136223846793005 + 1442695040888963407;
      return static_cast<double>((state >> 33) % below);
    };
    for (std::uint32_t metric = 0; metric < 200; ++metric) {
      SampleSeries series{metric, {}};
      double counter = 1e9 * metric;
      for (std::size_t i = 0; i < tick_count; ++i) {
        counter += random(20'000);
        series.values.push_back(metric % 3 == 0 ? 64e9 : metric % 3 == 1 ? counter : 50 + random(100) / 10);
      }
      table.series.push_back(std::move(series));
    }
    expect_round_trip(table);
    const double bytes = static_cast<double>(encode_samples(table).size()) / static_cast<double>(200 * tick_count);
    EXPECT_LT(bytes, most_bytes) << tick_count << " ticks in a frame";
    RecordProperty(std::to_string(tick_count) + "_ticks_bytes_a_sample", std::to_string(bytes));
  }
}

}  // namespace
}  // namespace trainwarden::format
