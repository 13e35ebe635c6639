// Compressed words that say more than they take, or more than they have: as findings_test.cc.
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "data/format/compression.h"
#include "findings.h"

namespace trainwarden::hostile {
namespace {

using format::FrameKind;

// A payload of zstd that says to have so much, of which nothing is there.
std::string head_of_zstd(std::uint32_t content_bytes) {
  std::string head("\x28\xB5\x2F\xFD\xA0\0\0\0\0", 9);
  store_le(std::as_writable_bytes(std::span(head)), 5, content_bytes);
  return head;
}

// A mebibyte that begins as JSON, of which nearly all is the same.
std::string compressed_to_a_fiftieth() {
  std::string text(1 << 20, ' ');
  std::mt19937 random(1);
  for (std::size_t i = 0; i < text.size() / 50; ++i) text[i] = static_cast<char>(random());
  text.front() = '{';
  const ByteSpan whole = as_bytes(text);
  const auto packed = format::compress_payload({&whole, 1});
  EXPECT_TRUE(packed);
  return packed.value_or("");
}

void compressed_event(CraftedSegment& segment, std::string_view payload) {
  segment.add(FrameKind::kEvent, payload, -1,
              [](format::FrameHeader& header) { header.flags = format::kCompressedFlag; });
}

TEST_F(Findings, CompressedWordsThatAreAHole) {
  CraftedSegment segment("rank-00000", 1);
  for (int i = 0; i < 3; ++i) {
    segment.add_hole(FrameKind::kEvent, head_of_zstd(0x7000'0000), std::uint64_t{30} << 20, -1,
                     format::kCompressedFlag);
  }
  segment.add_names({"a"});
  segment.add_scalar_step(9, 0, 2.0);
  segment.write(run_);
  expect_bounded();
  expect_loss("the budget for reading");
}

TEST_F(Findings, CompressedWordsThatSayALot) {
  CraftedSegment segment("rank-00000", 1);
  for (const std::uint32_t bytes : {1u << 20, 1u << 31, 0xFFFF'FFFFu}) compressed_event(segment, head_of_zstd(bytes));
  const std::string most = compressed_to_a_fiftieth();
  for (int i = 0; i < many(2'000); ++i) compressed_event(segment, most);
  segment.add_names({"a"});
  segment.add_scalar_step(9, 0, 2.0);
  segment.write(run_);
  expect_bounded();
  expect_loss("damaged payload");
  if (!kSanitized) expect_loss("the budget for reading");
}

}  // namespace
}  // namespace trainwarden::hostile
