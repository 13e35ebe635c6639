#include "work/output/log_tail.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "core/base/folder_testing.h"

namespace trainwarden::output {
namespace {

namespace fs = std::filesystem;

class LogTailTest : public ::testing::Test {
 protected:
  void print(const std::string& text) const { std::ofstream(log_, std::ios::app) << text; }
  static std::string read_all(LogTail& tail) {
    std::string text;
    for (;;) {
      const auto piece = tail.read();
      EXPECT_TRUE(piece.ok()) << piece.status().message();
      if (!piece.ok() || piece->empty()) return text;
      text += *piece;
    }
  }

  TestFolder folder_;
  fs::path log_ = folder_.path() / "log";
};

TEST_F(LogTailTest, ReadsWhatComesBehindTheEndThatItFound) {
  print("of an earlier attempt\n");
  LogTail tail = LogTail::open_at_end(log_).value();
  EXPECT_EQ(read_all(tail), "");
  print("one\ntw");
  EXPECT_EQ(read_all(tail), "one\ntw");
  print("o\n");
  EXPECT_EQ(read_all(tail), "o\n");
  EXPECT_EQ(tail.bytes(), 8u);
}

TEST_F(LogTailTest, MoreThanOnePieceComesWhole) {
  print("");
  LogTail tail = LogTail::open_at_end(log_).value();
  const std::string much(3'000'000, 'x');
  print(much);
  EXPECT_EQ(read_all(tail), much);
}

TEST_F(LogTailTest, AFileThatWasEmptiedIsReadFromItsBeginning) {
  print("earlier\n");
  LogTail tail = LogTail::open_at_end(log_).value();
  print("before\n");
  EXPECT_EQ(read_all(tail), "before\n");
  fs::resize_file(log_, 0);
  print("after\n");
  EXPECT_EQ(read_all(tail), "after\n");
  EXPECT_EQ(tail.restarts(), 1u);
}

TEST_F(LogTailTest, GoesOnWhereAnEarlierReadingStopped) {
  print("read\nnot read\n");
  LogTail tail = LogTail::open_at(log_, 5).value();
  EXPECT_EQ(read_all(tail), "not read\n");
  EXPECT_EQ(tail.offset(), 14u);
  LogTail shorter = LogTail::open_at(log_, 15).value();
  EXPECT_EQ(read_all(shorter), "read\nnot read\n") << "it was emptied since";
}

TEST_F(LogTailTest, FollowsTheFileAndNotItsName) {
  print("");
  LogTail tail = LogTail::open_at_end(log_).value();
  std::ofstream program(log_, std::ios::app);
  fs::rename(log_, folder_.path() / "log.1");
  print("somebody else's\n");  // under the old name
  program << "the program's\n" << std::flush;
  EXPECT_EQ(read_all(tail), "the program's\n");
}

TEST_F(LogTailTest, WhatIsNoFileIsRefusedAtOnce) {
  EXPECT_EQ(LogTail::open_at_end(log_).status().code(), Code::kNotFound);
  const fs::path pipe = folder_.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(LogTail::open_at_end(pipe).status().code(), Code::kInvalidArgument);
  const Status folder = LogTail::open_at_end(folder_.path()).status();
  EXPECT_EQ(folder.code(), Code::kInvalidArgument);
  EXPECT_NE(folder.message().find("no regular file"), std::string::npos) << folder.message();
}

}  // namespace
}  // namespace trainwarden::output
