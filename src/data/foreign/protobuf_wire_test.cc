#include "data/foreign/protobuf_wire.h"

#include <gtest/gtest.h>

#include "data/foreign/golden_record.h"

namespace trainwarden::foreign {
namespace {

Result<WireField> first_field(std::string_view hex) {
  static std::string bytes;  // outlives the field
  bytes = from_hex(hex);
  return WireReader(as_bytes(bytes)).next();
}

TEST(WireReaderTest, ReadsEachWireType) {
  EXPECT_EQ(first_field("08 96 01")->bits, 150u);  // the example of the encoding's document
  EXPECT_EQ(first_field("09 0000 0000 0000 f03f")->bits, 0x3ff0000000000000u);
  EXPECT_EQ(first_field("15 0000 803f")->bits, 0x3f800000u);
  const auto text = first_field("12 07 7465 7374 696e 67");
  ASSERT_TRUE(text.ok()) << text.status().to_string();
  EXPECT_EQ(text->number, 2u);
  EXPECT_EQ(as_text(text->bytes), "testing");
}

TEST(WireReaderTest, RefusesWhatIsNoField) {
  EXPECT_EQ(first_field("00 00").status().message(), "0 is no field number");
  EXPECT_EQ(first_field("0b").status().message(), "field 1: 3 is no wire type");  // a group
  EXPECT_EQ(first_field("0f").status().code(), Code::kDataLoss);
  EXPECT_EQ(first_field("12 08 7465").status().message(), "8 bytes expected, 2 found");
  EXPECT_EQ(first_field("12 ff ff ff ff ff ff ff ff ff 01").status().code(), Code::kDataLoss);
  EXPECT_EQ(first_field("09 0000").status().code(), Code::kDataLoss);
  EXPECT_EQ(first_field("08 80").status().message(), "a varint has no end");
  EXPECT_EQ(first_field("08 ff ff ff ff ff ff ff ff ff 02").status().code(), Code::kDataLoss);  // 65 bits
  EXPECT_EQ(first_field("80 80 80 80 80 20 00").status().code(), Code::kDataLoss);              // field 2^37
}

TEST(WireReaderTest, VarintsHaveUpTo64Bits) {
  const auto field = first_field("08 ff ff ff ff ff ff ff ff ff 01");
  ASSERT_TRUE(field.ok());
  std::int64_t wide = 0;
  std::int32_t narrow = 0;
  EXPECT_TRUE(field->read(wide).ok());
  EXPECT_TRUE(field->read(narrow).ok());
  EXPECT_EQ(wide, -1);
  EXPECT_EQ(narrow, -1);
}

TEST(WireFieldTest, OtherTypeIsDataLoss) {
  std::string text;
  double number = 0;
  const auto varint = first_field("08 01");
  EXPECT_EQ(varint->read(text).message(), "field 1: expected bytes with a length, found a varint");
  EXPECT_EQ(varint->read(number).message(), "field 1: expected 8 bytes, found a varint");
}

TEST(WireNumbersTest, PackedAndSingleNumbersAreRead) {
  const std::string bytes = from_hex("22 03 03 8e02  20 07");  // field 4: packed 3 and 270, then a single 7
  std::vector<std::uint64_t> numbers;
  const Status status = for_each_field(as_bytes(bytes), "M", [&](const WireField& field) {
    return for_each_number(field, WireType::kVarint, [&](std::uint64_t bits) {
      numbers.push_back(bits);
      return Status();
    });
  });
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(numbers, (std::vector<std::uint64_t>{3, 270, 7}));
}

TEST(WireNumbersTest, PackedNumbersMustBeWhole) {
  const std::string bytes = from_hex("22 05 0000803f 00");
  const Status status = for_each_field(as_bytes(bytes), "M", [&](const WireField& field) {
    return for_each_number(field, WireType::kFixed32, [](std::uint64_t) { return Status(); });
  });
  EXPECT_EQ(status.message(), "M: 4 bytes expected, 1 found");
}

TEST(WireWriterTest, LeavesDefaultsOut) {
  WireWriter writer;
  writer.put(1, 0.0);
  writer.put(2, std::int64_t{0});
  writer.put(3, "");
  writer.put_packed(4, {});
  EXPECT_EQ(writer.text(), "");
  writer.put(1, -0.0);
  writer.put_always(2, 0.0f);
  writer.put_always(3, "");
  EXPECT_EQ(writer.text(), from_hex("09 0000000000000080  15 00000000  1a 00"));
}

TEST(WireWriterTest, WritesWhatTheReaderReads) {
  WireWriter writer;
  writer.put(1, std::int64_t{-2});
  writer.put(16, "text");
  writer.put_packed(3, {1.0, 2.0});
  EXPECT_EQ(writer.text(), from_hex("08 feffffffffffffffff01  8201 04 74657874  "
                                    "1a 10 000000000000f03f 0000000000000040"));
}

}  // namespace
}  // namespace trainwarden::foreign
