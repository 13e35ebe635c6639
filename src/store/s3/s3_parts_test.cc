// Pieces of files, blocks that are kept, and pauses between attempts.
#include <gtest/gtest.h>

#include "store/s3/appended_file.h"
#include "store/s3/block_cache.h"
#include "store/s3/retry_pauses.h"

namespace trainwarden::storage {
namespace {

ListedObject piece(std::uint64_t number, std::uint64_t bytes) {
  return {.key = piece_name("seg", number), .info = {.bytes = bytes}};
}

TEST(AppendedFile, PiecesHaveNames) {
  EXPECT_EQ(piece_name("seg", 12), "seg.~0000000012");
  EXPECT_EQ(parse_piece_name("seg.~0000000012")->number, 12u);
  EXPECT_EQ(parse_piece_name("a/seg.~0000000012")->file, "a/seg");
  for (const char* name : {"seg", "seg.~", "seg.~12", "seg.~000000001x", "seg.~00000000012", ".~0000000012"}) {
    EXPECT_FALSE(parse_piece_name(name)) << name;
  }
}

TEST(AppendedFile, APieceThatIsMissingEndsTheFile) {
  std::vector<FilePart> parts;
  add_pieces(parts, {piece(0, 0), piece(1, 5), piece(3, 7)});
  EXPECT_EQ(bytes_of(parts), 5u);
  add_pieces(parts, {piece(2, 2), piece(3, 7)});
  ASSERT_EQ(parts.size(), 4u);
  EXPECT_EQ(parts[3].offset, 7u);
  EXPECT_EQ(bytes_of(parts), 14u);
}

TEST(AppendedFile, SizesDoNotRunOver) {
  std::vector<FilePart> parts;
  add_pieces(parts, {piece(0, 0), piece(1, kMaxObjectBytes), piece(2, kMaxObjectBytes)});
  EXPECT_EQ(bytes_of(parts), kMaxObjectBytes);
}

TEST(BlockCacheTest, WhatWasAskedForLastStays) {
  BlockCache cache(25);
  const auto block = [](char c) { return std::make_shared<const std::string>(10, c); };
  cache.keep({"a", 0}, block('a'));
  cache.keep({"a", 1}, block('b'));
  EXPECT_NE(cache.find({"a", 0}), nullptr);
  cache.keep({"b", 0}, block('c'));
  EXPECT_EQ(cache.find({"a", 1}), nullptr);
  EXPECT_EQ(*cache.find({"a", 0}), std::string(10, 'a'));
  EXPECT_EQ(*cache.find({"b", 0}), std::string(10, 'c'));
}

TEST(RetryPausesTest, PausesGrowAndAttemptsEnd) {
  RetryPauses policy(4, 1);
  EXPECT_LE(policy.pause_after(1)->count(), 100);
  EXPECT_LE(policy.pause_after(2)->count(), 200);
  EXPECT_LE(policy.pause_after(3)->count(), 400);
  EXPECT_FALSE(policy.pause_after(4));
}

TEST(RetryPausesTest, AServerThatIsDownIsAskedLessAndLess) {
  RetryPauses policy(4, 1);
  int again = 0;
  while (policy.pause_after(1)) ++again;
  EXPECT_EQ(again, 100);
  policy.answered(6);
  EXPECT_TRUE(policy.pause_after(1));
}

}  // namespace
}  // namespace trainwarden::storage
