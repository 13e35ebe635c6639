#include "data/foreign/parquet.h"

#include <cstring>

#include <gtest/gtest.h>

#include "data/foreign/thrift_compact.h"

// That readers of others read such files, and the same numbers, is tested in src/read/transfer.
namespace trainwarden::foreign {
namespace {

std::string hex_of(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    text += kDigits[static_cast<unsigned char>(byte) >> 4];
    text += kDigits[static_cast<unsigned char>(byte) & 15];
  }
  return text;
}

TEST(ThriftCompact, FieldsAreWrittenAsTheProtocolSays) {
  ThriftWriter writer;
  writer.int32(1, -1);      // delta 1, type 5, zigzag 1
  writer.int64(2, 300);     // 600 as a varint
  writer.boolean(4, true);  // delta 2, type 1
  writer.text(5, "ab");
  writer.begin_struct(8);
  writer.byte(1, 64);
  writer.end_struct();
  writer.list(9, ThriftType::kInt32, 2);
  writer.element(0);
  writer.element(1);
  EXPECT_EQ(hex_of(writer.finish()),
            "1501"
            "16d804"
            "21"
            "18026162"
            "3c134000"
            "19250002"
            "00");
}

TEST(ThriftCompact, ALongListSaysItsLengthApart) {
  ThriftWriter writer;
  writer.list(1, ThriftType::kInt32, 200);
  EXPECT_EQ(hex_of(writer.finish()), "19f5c80100");
}

TEST(Parquet, AFileBeginsAndEndsAsReadersLookForIt) {
  ParquetEncoder table({{"step", ParquetType::kInt64}, {"loss", ParquetType::kDouble, true}});
  table.set_int(0, 7);
  table.end_row();
  table.finish("tests", {});
  ASSERT_TRUE(table.out.starts_with("PAR1") && table.out.ends_with("PAR1"));
  std::uint32_t footer_bytes = 0;
  std::memcpy(&footer_bytes, table.out.data() + table.out.size() - 8, sizeof footer_bytes);
  ASSERT_LT(footer_bytes + 12, table.out.size());
  EXPECT_EQ(table.out[table.out.size() - 8 - footer_bytes], '\x15');  // the footer's first field, the version
}

}  // namespace
}  // namespace trainwarden::foreign
