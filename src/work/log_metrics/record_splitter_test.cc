#include "work/log_metrics/record_splitter.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace trainwarden::log_metrics {
namespace {

using Lines = std::vector<std::string>;

struct Kept {
  std::string text;
  std::uint64_t line;
  bool cut;
  friend bool operator==(const Kept&, const Kept&) = default;
};

// The bytes handed on in pieces of `piece` bytes.
std::vector<Kept> records_of(std::string_view bytes, std::size_t piece = std::string_view::npos) {
  std::vector<Kept> kept;
  const auto sink = [&](const LogRecord& record) {
    kept.push_back({std::string(record.text), record.line, record.cut});
  };
  RecordSplitter splitter;
  while (!bytes.empty()) {
    splitter.append(bytes.substr(0, piece), sink);
    bytes.remove_prefix(std::min(piece, bytes.size()));
  }
  splitter.finish(sink);
  return kept;
}

Lines texts_of(std::string_view bytes) {
  Lines texts;
  for (const Kept& kept : records_of(bytes)) texts.push_back(kept.text);
  return texts;
}

TEST(RecordSplitter, LinesEndAtLineFeedsAndCarriageReturns) {
  EXPECT_EQ(texts_of("a\nb\r\nc\rd"), (Lines{"a", "b", "c", "d"}));
  EXPECT_EQ(texts_of("\n\n a \n\n"), (Lines{" a "}));
  EXPECT_EQ(texts_of(""), Lines{});
}

TEST(RecordSplitter, SaysInWhichLineARecordStands) {
  const std::vector<Kept> records = records_of("one\n\nthree: 1%\rthree: 2%\r\nfour");
  ASSERT_EQ(records.size(), 4u);
  EXPECT_EQ(records[0].line, 1u);
  EXPECT_EQ(records[1].line, 3u);
  EXPECT_EQ(records[2].line, 3u);
  EXPECT_EQ(records[3].line, 4u);
}

TEST(RecordSplitter, BackspacesBeginTheLineAnew) {
  EXPECT_EQ(texts_of("1/2 loss: 0.5\b\b\b\b\b\r2/2 loss: 0.4\n"), (Lines{"1/2 loss: 0.5", "2/2 loss: 0.4"}));
}

TEST(RecordSplitter, LeavesOutEscapeSequences) {
  EXPECT_EQ(texts_of("\x1b[1;32mloss\x1b[0m: 0.5\x1b[K\n"), (Lines{"loss: 0.5"}));
  EXPECT_EQ(texts_of("\x1b(Bloss\x1b[?25l: 1\x1b"
                     "7"),
            (Lines{"loss: 1"}));
  EXPECT_EQ(texts_of("cut off \x1b[3\nnext\x1b\nlast\x1b[1"), (Lines{"cut off ", "next", "last"}));
}

TEST(RecordSplitter, WhatIsNoUtf8IsReplaced) {
  EXPECT_EQ(texts_of("loss \xff: 1\ngröße: 2\n"), (Lines{"loss \uFFFD: 1", "größe: 2"}));
}

TEST(RecordSplitter, ALongRecordIsCutAndSaysSo) {
  const std::vector<Kept> records = records_of(std::string(kMaxRecordBytes + 7, 'x') + "\nshort", 1000);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].text, std::string(kMaxRecordBytes, 'x'));
  EXPECT_TRUE(records[0].cut);
  EXPECT_EQ(records[1], (Kept{"short", 2, false}));
  EXPECT_FALSE(records_of(std::string(kMaxRecordBytes, 'x') + "\n").at(0).cut);
}

TEST(RecordSplitter, HowTheBytesComeMakesNoDifference) {
  std::mt19937 random(7);
  const std::string_view alphabet = "ab1\n\r\b\x1b[mK;(\xc3\xa9";
  for (int round = 0; round < 200; ++round) {
    std::string bytes(60, ' ');
    for (char& byte : bytes) byte = alphabet[random() % alphabet.size()];
    const std::vector<Kept> whole = records_of(bytes);
    for (const std::size_t piece : {1u, 2u, 7u}) EXPECT_EQ(records_of(bytes, piece), whole) << "round " << round;
    for (const Kept& record : whole) EXPECT_FALSE(record.text.empty());
  }
}

}  // namespace
}  // namespace trainwarden::log_metrics
