#include "data/format/frame.h"

#include <gtest/gtest.h>

#include <set>

#include "core/base/crc32c.h"
#include "data/format/damage_testing.h"

namespace trainwarden::format {
namespace {

FrameHeader sample_header() {
  FrameHeader header;
  header.kind = FrameKind::kBundle;
  header.flags = 0x0201;
  header.payload_crc = 0x11223344;
  header.payload_bytes = 0x0102030405060708;
  header.file_offset = 0x1000;
  header.sequence = 7;
  header.step = -2;
  header.writer_id = 0x10003;
  header.run_salt = 0xAABBCCDD;
  header.unix_ns = 1'700'000'000'000'000'001;
  return header;
}

TEST(FrameTest, BytesAreThoseOfTheTable) {
  const auto bytes = encode_frame_header(sample_header());
  EXPECT_EQ(as_text(bytes).substr(0, 8), std::string("TWM1\x01\x03\x01\x02", 8));
  EXPECT_EQ(load_le<std::uint32_t>(bytes, 12), 0x11223344u);
  EXPECT_EQ(load_le<std::uint64_t>(bytes, 16), 0x0102030405060708u);
  EXPECT_EQ(load_le<std::uint64_t>(bytes, 24), 0x1000u);
  EXPECT_EQ(load_le<std::uint64_t>(bytes, 32), 7u);
  EXPECT_EQ(load_le<std::int64_t>(bytes, 40), -2);
  EXPECT_EQ(load_le<std::uint32_t>(bytes, 48), 0x10003u);
  EXPECT_EQ(load_le<std::uint32_t>(bytes, 52), 0xAABBCCDDu);
  EXPECT_EQ(load_le<std::int64_t>(bytes, 56), 1'700'000'000'000'000'001);
}

TEST(FrameTest, TheCrcIsOverTheHeaderWithItselfAsZero) {
  auto bytes = encode_frame_header(sample_header());
  const auto stored = load_le<std::uint32_t>(bytes, 8);
  store_le(bytes, 8, std::uint32_t{0});
  EXPECT_EQ(stored, crc32c_portable(bytes));
}

TEST(FrameTest, RoundTrip) {
  const auto decoded = decode_frame_header(encode_frame_header(sample_header()));
  ASSERT_TRUE(decoded.ok()) << decoded.status().to_string();
  EXPECT_EQ(*decoded, sample_header());
}

TEST(FrameTest, MoreBytesThanAHeaderAreFine) {
  std::array<std::byte, 100> bytes{};
  const auto header = encode_frame_header(sample_header());
  std::copy(header.begin(), header.end(), bytes.begin());
  EXPECT_TRUE(decode_frame_header(bytes).ok());
}

TEST(FrameTest, EveryFlippedBitIsDataLoss) {
  const auto bytes = encode_frame_header(sample_header());
  for_each_flipped_bit(as_text(bytes), [](ByteSpan damaged) {
    EXPECT_EQ(decode_frame_header(damaged).status().code(), Code::kDataLoss);
  });
}

TEST(FrameTest, EveryTruncationIsDataLoss) {
  const auto bytes = encode_frame_header(sample_header());
  for_each_truncation(as_text(bytes), [](ByteSpan damaged) {
    EXPECT_EQ(decode_frame_header(damaged).status().code(), Code::kDataLoss);
  });
}

TEST(FrameTest, UnknownKindsAreReadAndUnknownVersionsAreNot) {
  FrameHeader header = sample_header();
  header.kind = static_cast<FrameKind>(0x80);
  const auto decoded = decode_frame_header(encode_frame_header(header));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(name(decoded->kind), "unknown");

  auto bytes = encode_frame_header(sample_header());
  store_le(bytes, 4, std::uint8_t{2});
  store_le(bytes, 8, std::uint32_t{0});
  store_le(bytes, 8, crc32c(bytes));
  const Status status = decode_frame_header(bytes).status();
  EXPECT_EQ(status.code(), Code::kDataLoss);
  EXPECT_NE(status.message().find("version 1 expected, 2 found"), std::string::npos) << status.message();
}

TEST(FrameTest, FramesStartAtMultiplesOf64) {
  FrameHeader header;
  for (const auto& [payload, frame] : {std::pair{0, 64}, {1, 128}, {64, 128}, {65, 192}}) {
    header.payload_bytes = static_cast<std::uint64_t>(payload);
    EXPECT_EQ(header.frame_bytes(), static_cast<std::uint64_t>(frame));
  }
}

TEST(FrameTest, EveryKindHasItsName) {
  std::set<std::string_view> names;
  for (int kind = 1; kind <= 13; ++kind) names.insert(name(static_cast<FrameKind>(kind)));
  EXPECT_EQ(names.size(), 13u);
  EXPECT_FALSE(names.contains("unknown"));
}

}  // namespace
}  // namespace trainwarden::format
