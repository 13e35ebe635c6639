#include "core/base/crc32c.h"

#include <gtest/gtest.h>

#include <random>
#include <string_view>
#include <vector>

namespace trainwarden {
namespace {

std::vector<std::byte> random_bytes(std::size_t count) {
  std::mt19937 random(7);
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

// The definition, bit by bit.
std::uint32_t crc32c_by_definition(ByteSpan bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const std::byte byte : bytes) {
    crc ^= std::to_integer<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78 : 0);
  }
  return ~crc;
}

TEST(Crc32c, Rfc3720Vectors) {
  std::vector<std::byte> bytes(32, std::byte{0});
  EXPECT_EQ(crc32c(bytes), 0x8a9136aau);
  bytes.assign(32, std::byte{0xff});
  EXPECT_EQ(crc32c(bytes), 0x62a8ab43u);
  for (std::size_t i = 0; i < 32; ++i) bytes[i] = static_cast<std::byte>(i);
  EXPECT_EQ(crc32c(bytes), 0x46dd794eu);
  for (std::size_t i = 0; i < 32; ++i) bytes[i] = static_cast<std::byte>(31 - i);
  EXPECT_EQ(crc32c(bytes), 0x113fdb5cu);
  bytes.assign(48, std::byte{0});  // an iSCSI SCSI Read (10) command PDU
  bytes[0] = std::byte{0x01};
  bytes[1] = std::byte{0xc0};
  bytes[16] = std::byte{0x14};
  bytes[22] = std::byte{0x04};
  bytes[27] = std::byte{0x14};
  bytes[31] = std::byte{0x18};
  bytes[32] = std::byte{0x28};
  bytes[40] = std::byte{0x02};
  EXPECT_EQ(crc32c(bytes), 0xd9963a56u);
  EXPECT_EQ(crc32c_portable(bytes), 0xd9963a56u);
}

TEST(Crc32c, CheckValueAndEmpty) {
  EXPECT_EQ(crc32c(as_bytes("123456789")), 0xe3069283u);
  EXPECT_EQ(crc32c_portable(as_bytes("123456789")), 0xe3069283u);
  EXPECT_EQ(crc32c({}), 0u);
  EXPECT_EQ(crc32c({}, 0x12345678u), 0x12345678u);
}

TEST(Crc32c, AllShortLengthsAndAlignments) {
  const std::vector<std::byte> bytes = random_bytes(1100);
  for (std::size_t offset = 0; offset < 16; ++offset) {
    for (std::size_t count = 0; count <= 1024; ++count) {
      const ByteSpan part = ByteSpan(bytes).subspan(offset, count);
      const std::uint32_t portable = crc32c_portable(part);
      ASSERT_EQ(crc32c(part), portable) << "offset " << offset << ", count " << count;
      if (count < 80) {
        ASSERT_EQ(portable, crc32c_by_definition(part));
      }
    }
  }
}

TEST(Crc32c, LongInputsCrossEveryStreamLength) {
  const std::vector<std::byte> bytes = random_bytes(40'000);
  for (std::size_t count = 700; count < bytes.size(); count += 97) {
    const ByteSpan part = ByteSpan(bytes).first(count);
    ASSERT_EQ(crc32c(part), crc32c_portable(part)) << "count " << count;
  }
  EXPECT_EQ(crc32c(bytes), crc32c_by_definition(bytes));
}

TEST(Crc32c, ContinuesOverAnySplit) {
  const std::vector<std::byte> bytes = random_bytes(13'001);
  const std::uint32_t whole = crc32c(bytes);
  for (std::size_t split = 0; split <= bytes.size(); split += 131) {
    const ByteSpan head = ByteSpan(bytes).first(split);
    const ByteSpan tail = ByteSpan(bytes).subspan(split);
    ASSERT_EQ(crc32c(tail, crc32c(head)), whole) << "split at " << split;
    ASSERT_EQ(crc32c_portable(tail, crc32c_portable(head)), whole) << "split at " << split;
  }
}

TEST(Crc32c, EveryFlippedBitShows) {
  std::vector<std::byte> bytes = random_bytes(64);
  const std::uint32_t before = crc32c(bytes);
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    EXPECT_NE(crc32c(bytes), before);
    bytes[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
  }
}

}  // namespace
}  // namespace trainwarden
