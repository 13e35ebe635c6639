#include "data/format/columns.h"

#include <gtest/gtest.h>

#include <cmath>

#include "data/format/damage_testing.h"

namespace trainwarden::format {
namespace {

std::string sample_columns() {
  ColumnWriter writer;
  writer.add("narrow", std::vector<std::uint8_t>{1, 2, 3});
  writer.add("half", std::vector<std::uint16_t>{65535});
  writer.add("word", std::vector<std::uint32_t>{7, 8});
  writer.add("signed", std::vector<std::int32_t>{-7, 8, 9});
  writer.add("wide", std::vector<std::int64_t>{-1});
  writer.add("count", std::vector<std::uint64_t>{~std::uint64_t{0}});
  writer.add("real", std::vector<double>{0.5, -0.0});
  writer.add("none", std::vector<double>{});
  writer.set_metadata("of", "test");
  return writer.finish();
}

TEST(ColumnsTest, RoundTrip) {
  const std::string document = sample_columns();
  const auto reader = ColumnReader::open(as_bytes(document));
  ASSERT_TRUE(reader.ok()) << reader.status().to_string();
  EXPECT_EQ(reader->view<std::uint8_t>("narrow")->to_vector(), (std::vector<std::uint8_t>{1, 2, 3}));
  EXPECT_EQ(reader->view<std::uint16_t>("half")->to_vector(), std::vector<std::uint16_t>{65535});
  EXPECT_EQ((*reader->view<std::uint32_t>("word"))[1], 8u);
  EXPECT_EQ(reader->view<std::int32_t>("signed", 3)->to_vector(), (std::vector<std::int32_t>{-7, 8, 9}));
  EXPECT_EQ((*reader->view<std::int64_t>("wide"))[0], -1);
  EXPECT_EQ((*reader->view<std::uint64_t>("count"))[0], ~std::uint64_t{0});
  EXPECT_TRUE(std::signbit((*reader->view<double>("real"))[1]));
  EXPECT_EQ(reader->view<double>("none", 0)->size(), 0u);
  EXPECT_TRUE(reader->has("none"));
  EXPECT_FALSE(reader->has("nothing"));
  EXPECT_EQ(reader->header().metadata.at("of"), "test");
}

TEST(ColumnsTest, ColumnsAreAlignedToTheirItems) {
  const std::string document = sample_columns();
  const auto reader = ColumnReader::open(as_bytes(document));
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(reader->header().data_offset % 64, 0u);
  for (const SafetensorsEntry& entry : reader->header().entries) {
    EXPECT_EQ(entry.begin % item_bytes(entry.dtype), 0u) << entry.name;
  }
}

TEST(ColumnsTest, TheSameColumnsGiveTheSameBytes) {
  EXPECT_EQ(sample_columns(), sample_columns());
}

TEST(ColumnsTest, WrongColumnsAreDataLossWithTheirName) {
  const std::string document = sample_columns();
  const auto reader = ColumnReader::open(as_bytes(document));
  ASSERT_TRUE(reader.ok());
  for (const Status& status :
       {reader->view<double>("word").status(), reader->view<std::int64_t>("word").status(),
        reader->view<std::uint32_t>("word", 3).status(), reader->view<std::int32_t>("word").status()}) {
    EXPECT_EQ(status.code(), Code::kDataLoss);
    EXPECT_NE(status.message().find("\"word\""), std::string::npos) << status.message();
  }
  EXPECT_EQ(reader->view<double>("nothing").status().code(), Code::kDataLoss);
}

TEST(ColumnsTest, AColumnHasOneDimension) {
  const std::string document = encode_safetensors_header({{"square", DType::kUInt8, {2, 2}}}) + "abcd";
  const auto reader = ColumnReader::open(as_bytes(document));
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(reader->view<std::uint8_t>("square").status().code(), Code::kDataLoss);
}

TEST(ColumnsTest, EveryTruncationIsDataLoss) {
  for_each_truncation(sample_columns(), [](ByteSpan damaged) {
    EXPECT_EQ(ColumnReader::open(damaged).status().code(), Code::kDataLoss);
  });
}

}  // namespace
}  // namespace trainwarden::format
