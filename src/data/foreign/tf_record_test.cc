#include "data/foreign/tf_record.h"

#include <gtest/gtest.h>

#include "data/foreign/golden_record.h"
#include "data/format/damage_testing.h"

namespace trainwarden::foreign {
namespace {

std::string record_of(std::string_view payload, RecordFooter footer) {
  std::string record;
  append_record(record, as_bytes(payload), footer);
  return record;
}

TEST(TfRecordTest, GoldenRecordIsReadAndWrittenByteForByte) {
  const std::string golden = golden_record();
  ASSERT_EQ(golden.size(), 100u);
  const auto payload = decode_record(as_bytes(golden));
  ASSERT_TRUE(payload.ok()) << payload.status().to_string();
  EXPECT_EQ(as_text(*payload), golden.substr(12, 84));
  EXPECT_EQ(record_of(golden.substr(12, 84), RecordFooter::kConstant), golden);
}

TEST(TfRecordTest, FooterWithThePayloadsCrcIsWrittenAndTaken) {
  const std::string golden = golden_record();
  const std::string record = record_of(golden.substr(12, 84), RecordFooter::kPayloadCrc);
  EXPECT_EQ(record, golden.substr(0, 96) + from_hex("4779 7a12"));
  EXPECT_TRUE(decode_record(as_bytes(record)).ok());
}

TEST(TfRecordTest, EmptyPayloadIsARecord) {
  for (const auto footer : {RecordFooter::kConstant, RecordFooter::kPayloadCrc}) {
    const std::string record = record_of("", footer);
    EXPECT_EQ(record.size(), kRecordHeaderBytes + kRecordFooterBytes);
    const auto payload = decode_record(as_bytes(record));
    ASSERT_TRUE(payload.ok()) << payload.status().to_string();
    EXPECT_TRUE(payload->empty());
  }
}

TEST(TfRecordTest, EveryFlippedBitThatACrcCoversIsSeen) {
  for (const auto footer : {RecordFooter::kConstant, RecordFooter::kPayloadCrc}) {
    const std::string whole = record_of("payload of some length", footer);
    for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
      std::string damaged = whole;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
      const bool in_payload = bit / 8 >= kRecordHeaderBytes && bit / 8 < whole.size() - kRecordFooterBytes;
      const bool covered = !in_payload || footer == RecordFooter::kPayloadCrc;
      const auto payload = decode_record(as_bytes(damaged));
      ASSERT_EQ(payload.ok(), !covered) << "bit " << bit;
      if (covered) {
        EXPECT_EQ(payload.status().code(), Code::kDataLoss);
      }
    }
  }
}

TEST(TfRecordTest, EveryTruncationAndEveryByteTooManyIsSeen) {
  const std::string golden = golden_record();
  format::for_each_truncation(golden, [](ByteSpan bytes) {
    EXPECT_EQ(decode_record(bytes).status().code(), Code::kDataLoss) << bytes.size() << " bytes";
  });
  EXPECT_EQ(decode_record(as_bytes(golden + "x")).status().code(), Code::kDataLoss);
}

TEST(TfRecordTest, MessagesSayWhatWasExpectedAndFound) {
  std::string golden = golden_record();
  golden.back() = 7;
  EXPECT_EQ(decode_record(as_bytes(golden)).status().message(),
            "event record: its footer 072dc0b3 is neither the payload's CRC (127a7947) nor smdebug's constant "
            "(062dc0b3)");
}

TEST(RecordWalkTest, WalksOverAllRecords) {
  std::string file;
  append_record(file, as_bytes("one"), RecordFooter::kConstant);
  append_record(file, as_bytes("second"), RecordFooter::kPayloadCrc);
  RecordWalk walk(as_bytes(file));
  EXPECT_EQ(walk.offset(), 0u);
  EXPECT_EQ(as_text(**walk.next()), "one");
  EXPECT_EQ(walk.offset(), 19u);
  EXPECT_EQ(as_text(**walk.next()), "second");
  EXPECT_EQ(walk.offset(), file.size());
  for (int i = 0; i < 2; ++i) {
    const auto end = walk.next();
    ASSERT_TRUE(end.ok());
    EXPECT_FALSE(end->has_value());
  }
  EXPECT_FALSE(walk.torn());
}

TEST(RecordWalkTest, TornRecordEndsTheWalk) {
  const std::string first = record_of("one", RecordFooter::kPayloadCrc);
  const std::string file = first + record_of("second", RecordFooter::kPayloadCrc);
  for (std::size_t bytes = first.size() + 1; bytes < file.size(); ++bytes) {
    RecordWalk walk(as_bytes(file).first(bytes));
    ASSERT_TRUE(walk.next()->has_value());
    const auto end = walk.next();
    ASSERT_TRUE(end.ok()) << end.status().to_string();
    EXPECT_FALSE(end->has_value());
    EXPECT_TRUE(walk.torn()) << bytes << " bytes";
    EXPECT_EQ(walk.offset(), first.size());
  }
}

TEST(RecordWalkTest, GoesOnBehindADamagedPayload) {
  std::string file = record_of("one", RecordFooter::kPayloadCrc);
  file[kRecordHeaderBytes] = 'x';
  file += record_of("second", RecordFooter::kPayloadCrc);
  RecordWalk walk(as_bytes(file));
  const auto damaged = walk.next();
  EXPECT_EQ(damaged.status().code(), Code::kDataLoss);
  EXPECT_NE(damaged.status().message().find("at byte 0"), std::string::npos) << damaged.status().message();
  EXPECT_EQ(as_text(**walk.next()), "second");
}

TEST(RecordWalkTest, IsOverBehindADamagedLength) {
  std::string file = record_of("one", RecordFooter::kPayloadCrc) + record_of("second", RecordFooter::kPayloadCrc);
  file[0] = 2;
  RecordWalk walk(as_bytes(file));
  EXPECT_EQ(walk.next().status().code(), Code::kDataLoss);
  EXPECT_FALSE(walk.next()->has_value());
  EXPECT_FALSE(walk.torn());
}

TEST(RecordWalkTest, HugeLengthWithItsCrcIsTorn) {
  const std::string header = record_of(std::string(200, 'x'), RecordFooter::kConstant).substr(0, 12);
  RecordWalk walk(as_bytes(header));
  EXPECT_FALSE(walk.next()->has_value());
  EXPECT_TRUE(walk.torn());
}

}  // namespace
}  // namespace trainwarden::foreign
