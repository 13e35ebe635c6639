#include "data/format/compression.h"

#include <zstd.h>

#include <array>
#include <random>
#include <string>

#include <gtest/gtest.h>

namespace trainwarden::format {
namespace {

std::string words(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += "encoder.layer." + std::to_string(i * 7919 % 1000) + ".weight,";
  return text;
}

std::optional<std::string> compress(const std::string& text) {
  const ByteSpan part = as_bytes(text);
  return compress_payload({&part, 1});
}

std::string zstd(const std::string& text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 1));
  return packed;
}

TEST(Compression, GivesTheSameBack) {
  const std::string text = words(500);
  const auto packed = compress(text);
  ASSERT_TRUE(packed);
  EXPECT_LT(packed->size() * 2, text.size());
  std::vector<std::byte> content;
  ASSERT_TRUE(decompress_payload(as_bytes(*packed), content).ok());
  EXPECT_EQ(as_text(content), text);
  EXPECT_EQ(content_bytes(as_bytes(*packed)).value(), text.size());
}

TEST(Compression, TakesPartsAsOne) {
  const std::string text = words(500);
  const ByteSpan whole = as_bytes(text);
  const std::array<ByteSpan, 3> parts = {whole.first(100), whole.subspan(100, 0), whole.subspan(100)};
  EXPECT_EQ(compress_payload(parts), compress(text));
}

TEST(Compression, LeavesWhatGainsNothing) {
  EXPECT_FALSE(compress("short"));
  std::mt19937 random(1);
  std::string noise(10'000, '\0');
  for (char& byte : noise) byte = static_cast<char>(random());
  EXPECT_FALSE(compress(noise));
}

TEST(Compression, WhatWouldBeRefusedIsNotWritten) {
  EXPECT_FALSE(compress(std::string(1 << 20, 'a'))) << "more than 64 times as long";
}

TEST(Compression, RefusesABomb) {
  const std::string bomb = zstd(std::string(1 << 24, 'a'));
  ASSERT_LT(bomb.size(), 10'000U);
  std::vector<std::byte> content;
  EXPECT_EQ(decompress_payload(as_bytes(bomb), content).code(), Code::kDataLoss);
  EXPECT_TRUE(content.empty());
}

TEST(Compression, RefusesWhatIsDamaged) {
  const std::string packed = *compress(words(500));
  std::vector<std::byte> content;
  for (std::size_t size = 0; size < packed.size(); ++size) {
    EXPECT_FALSE(decompress_payload(as_bytes(packed).first(size), content).ok()) << size;
  }
  EXPECT_EQ(decompress_payload(as_bytes(std::string(100, 'x')), content).code(), Code::kDataLoss);
  EXPECT_EQ(decompress_payload({}, content).code(), Code::kDataLoss);
}

TEST(Compression, RefusesWhatIsNotOneFrame) {
  const std::string packed = zstd(words(500));
  std::vector<std::byte> content;
  EXPECT_EQ(decompress_payload(as_bytes(packed + zstd("more")), content).code(), Code::kDataLoss);
  EXPECT_EQ(decompress_payload(as_bytes(packed + "x"), content).code(), Code::kDataLoss);
  const std::string to_be_skipped("\x50\x2A\x4D\x18\x04\0\0\0abcd", 12);
  EXPECT_EQ(decompress_payload(as_bytes(to_be_skipped), content).code(), Code::kDataLoss);
  EXPECT_EQ(decompress_payload(as_bytes(to_be_skipped + packed), content).code(), Code::kDataLoss);
}

TEST(Compression, RefusesAnotherLengthThanItSays) {
  std::string packed = zstd(words(500));
  std::vector<std::byte> content;
  ASSERT_TRUE(decompress_payload(as_bytes(packed), content).ok());
  constexpr std::size_t kLengthAt = 5;  // a frame of less than 64 KiB in one piece: RFC 8878, 3.1.1.1
  for (const int more : {-1, 1, 100}) {
    std::string other = packed;
    const MutableByteSpan bytes = std::as_writable_bytes(std::span(other));
    store_le(bytes, kLengthAt, static_cast<std::uint16_t>(load_le<std::uint16_t>(bytes, kLengthAt) + more));
    EXPECT_EQ(content_bytes(as_bytes(other)).value() - content_bytes(as_bytes(packed)).value(),
              static_cast<std::uint64_t>(more));
    EXPECT_EQ(decompress_payload(as_bytes(other), content).code(), Code::kDataLoss) << more;
  }
}

TEST(Compression, NoBitThatFlipsDoesHarm) {
  const std::string text = words(500);
  const std::string packed = *compress(text);
  std::vector<std::byte> content;
  for (std::size_t bit = 0; bit < packed.size() * 8; ++bit) {
    std::string damaged = packed;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    const Status status = decompress_payload(as_bytes(damaged), content);
    EXPECT_TRUE(status.ok() || status.code() == Code::kDataLoss) << status.to_string();
    if (status.ok()) {
      EXPECT_EQ(content.size(), content_bytes(as_bytes(damaged)).value());
    }
  }
}

TEST(Compression, TheFlagMeansNothingOnOtherKinds) {
  FrameHeader header;
  header.flags = kCompressedFlag | 1;
  header.kind = FrameKind::kStatistics;
  EXPECT_TRUE(is_compressed(header));
  EXPECT_EQ(flags_of_content(header), 1);
  header.kind = FrameKind::kBundle;
  EXPECT_FALSE(is_compressed(header));
}

TEST(Compression, ValuesAndFixedFramesAreNotCompressed) {
  for (const FrameKind kind :
       {FrameKind::kBundle, FrameKind::kSegmentStart, FrameKind::kStepEnd, FrameKind::kIndex, FrameKind::kTrailer}) {
    EXPECT_FALSE(may_be_compressed(kind));
  }
  EXPECT_TRUE(may_be_compressed(FrameKind::kStatistics));
  EXPECT_TRUE(may_be_compressed(FrameKind::kNames));
}

}  // namespace
}  // namespace trainwarden::format
