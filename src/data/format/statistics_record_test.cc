#include "data/format/statistics_record.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "data/format/columns.h"
#include "data/format/damage_testing.h"

namespace trainwarden::format {
namespace {

Statistics full_statistics() {
  Statistics statistics;
  statistics.count = 10;
  statistics.nan_count = 2;
  statistics.positive_inf_count = 1;
  statistics.negative_inf_count = 1;
  statistics.zero_count = 1;
  statistics.min = -2.5;
  statistics.max = 1e300;
  statistics.abs_min = 0;
  statistics.abs_max = 1e300;
  statistics.sum = {true, -2, {5, 0, 0x8000000000000000}};
  statistics.abs_sum = {false, 3, {1}};
  statistics.square_sum = {false, -34, {1, 2, 3, 4, 5, 6, 7}};
  statistics.has_histogram = true;
  statistics.histogram.bins = {{0, 3}, {1023, 1}, {2047, ~std::uint64_t{0}}};
  statistics.has_hash = true;
  statistics.hash = 0xFEDCBA9876543210;
  return statistics;
}

std::vector<StatisticsRow> sample_rows() {
  Statistics core;
  core.count = 3;
  core.min = core.max = core.abs_min = core.abs_max = -0.0;
  Statistics rounded = core;
  rounded.approximate = true;
  Statistics empty_histogram;
  empty_histogram.has_histogram = true;
  return {{7, DType::kFloat32, {2, 5}, false, full_statistics()},
          {0xFFFFFFFF, DType::kBFloat16, {}, true, {}},
          {0, DType::kComplex128, {3}, false, core},
          {1, DType::kFloat16, {0, 4}, false, empty_histogram},
          {3, DType::kFloat32, {3}, false, rounded},
          {2, DType::kString, {1, 2, 3, 4}, true, {}}};
}

TEST(StatisticsRecordTest, RoundTripOfEveryBit) {
  const std::string payload = encode_statistics(sample_rows());
  const auto table = StatisticsTable::open(as_bytes(payload));
  ASSERT_TRUE(table.ok()) << table.status().to_string();
  ASSERT_EQ(table->row_count(), sample_rows().size());
  for (std::size_t i = 0; i < sample_rows().size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(table->row(i), sample_rows()[i]);
    EXPECT_EQ(table->shape(i), std::pair(sample_rows()[i].dtype, sample_rows()[i].shape));
    EXPECT_EQ(table->keys()[i].tensor, sample_rows()[i].id);
    EXPECT_EQ(table->keys()[i].shape_only, sample_rows()[i].shape_only);
  }
  EXPECT_TRUE(std::signbit(table->row(2).statistics.min));
}

TEST(StatisticsRecordTest, NoRowsRoundTrip) {
  const std::string payload = encode_statistics({});
  const auto table = StatisticsTable::open(as_bytes(payload));
  ASSERT_TRUE(table.ok()) << table.status().to_string();
  EXPECT_EQ(table->row_count(), 0u);
}

TEST(StatisticsRecordTest, ForeignReadersFindRoundedNumbers) {
  Statistics statistics;
  statistics.count = 4;
  statistics.min = statistics.abs_min = 1;
  statistics.max = statistics.abs_max = 3;
  statistics.sum = statistics.abs_sum = {false, 0, {8}};
  statistics.square_sum = {false, 0, {18}};
  const std::string payload = encode_statistics(std::vector<StatisticsRow>{{0, DType::kInt8, {4}, false, statistics}});
  const auto columns = ColumnReader::open(as_bytes(payload));
  ASSERT_TRUE(columns.ok());
  const auto number = [&](const char* name) { return (*columns->view<double>(name, 1))[0]; };
  EXPECT_EQ(number("sum"), 8);
  EXPECT_EQ(number("mean"), 2);
  EXPECT_EQ(number("variance"), 0.5);
  EXPECT_EQ(number("l1"), 8);
  EXPECT_EQ(number("l2"), std::sqrt(18.0));
  EXPECT_EQ(number("abs_variance"), 0.5);
  EXPECT_EQ(number("min"), 1);
  EXPECT_EQ(number("max"), 3);
}

// Files without approximate statistics are as they were, and programs that do not know the column read the others.
TEST(StatisticsRecordTest, TheMarkOfApproximateOnesIsAColumnOfItsOwn) {
  Statistics rounded;
  rounded.count = 3;
  const auto has_mark = [&] {
    const std::string payload = encode_statistics(std::vector<StatisticsRow>{{0, DType::kInt8, {3}, false, rounded}});
    return ColumnReader::open(as_bytes(payload))->has("approximate");
  };
  EXPECT_FALSE(has_mark());
  rounded.approximate = true;
  EXPECT_TRUE(has_mark());
}

TEST(StatisticsRecordTest, EveryTruncationIsDataLoss) {
  for_each_truncation(encode_statistics(sample_rows()), [](ByteSpan damaged) {
    EXPECT_EQ(StatisticsTable::open(damaged).status().code(), Code::kDataLoss);
  });
}

// What a table that opens holds can be read, whatever it says.
TEST(StatisticsRecordTest, NoFlippedBitDoesHarm) {
  for_each_flipped_bit(encode_statistics(sample_rows()), [](ByteSpan damaged) {
    const auto table = StatisticsTable::open(damaged);
    if (!table.ok()) return;
    for (std::size_t i = 0; i < table->row_count(); ++i) {
      const StatisticsRow row = table->row(i);
      EXPECT_GE(row.shape.element_count(), 0);
      (void)row.statistics.variance();
    }
  });
}

TEST(StatisticsRecordTest, ContradictionsAreDataLossWithTheColumnsName) {
  const std::vector<std::pair<const char*, std::function<void(StatisticsRow&)>>> damages = {
      {"dtype", [](StatisticsRow& row) { row.dtype = static_cast<DType>(kDTypeCount); }},
      {"nan_count", [](StatisticsRow& row) { row.statistics.nan_count = 11; }},
      {"zero_count", [](StatisticsRow& row) { row.statistics.zero_count = 7; }},
      {"exact_limbs", [](StatisticsRow& row) { row.statistics.sum.limbs.back() = 0; }},
      {"exact_limbs", [](StatisticsRow& row) { row.statistics.sum.limbs.front() = 0; }},
      {"exact_limb_count",
       [](StatisticsRow& row) {
         row.statistics.sum = {true, 0, {}};
       }},
      {"exact_limb_count",
       [](StatisticsRow& row) {
         row.statistics.sum = {false, 1, {}};
       }},
      {"exact_lowest_limb", [](StatisticsRow& row) { row.statistics.sum.lowest_limb = 64; }},
      {"exact_lowest_limb", [](StatisticsRow& row) { row.statistics.sum.lowest_limb = -65; }},
      {"histogram_index", [](StatisticsRow& row) { row.statistics.histogram.bins[1].index = 0; }},
      {"histogram_index", [](StatisticsRow& row) { row.statistics.histogram.bins[2].index = 2048; }},
      {"histogram_count", [](StatisticsRow& row) { row.statistics.histogram.bins[0].count = 0; }},
  };
  for (const auto& [column, damage] : damages) {
    std::vector<StatisticsRow> rows = sample_rows();
    damage(rows[0]);
    const Status status = StatisticsTable::open(as_bytes(encode_statistics(rows))).status();
    EXPECT_EQ(status.code(), Code::kDataLoss) << column;
    EXPECT_NE(status.message().find("\"" + std::string(column) + "\""), std::string::npos) << status.message();
  }
}

}  // namespace
}  // namespace trainwarden::format
