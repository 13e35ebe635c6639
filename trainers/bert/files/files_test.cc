#include "files/reading.h"
#include "files/writing.h"

#include <fstream>
#include <functional>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace bert {
namespace {

namespace fs = std::filesystem;

class FilesTest : public testing::Test {
 protected:
  FilesTest() { fs::create_directory(folder_); }
  ~FilesTest() override { fs::remove_all(folder_); }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) names.push_back(entry.path().filename());
    return names;
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / ("bert-files-" + std::to_string(::getpid()));
};

void expect_error(const std::function<void()>& act, const std::string& expected) {
  try {
    act();
    ADD_FAILURE() << "expected an error about " << expected;
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find(expected), std::string::npos) << error.what();
  }
}

TEST_F(FilesTest, WithoutCommitNothingIsLeft) {
  {
    AtomicFile file(folder_ / "a");
    file.append("half");
  }
  EXPECT_TRUE(names().empty());
}

TEST_F(FilesTest, AWriteReplacesAsAWhole) {
  write_text(folder_ / "a", "before");
  AtomicFile file(folder_ / "a");
  file.append("af");
  file.append("ter");
  EXPECT_EQ(read_text(folder_ / "a", 10), "before");
  file.commit();
  EXPECT_EQ(read_text(folder_ / "a", 10), "after");
  EXPECT_EQ(names(), std::vector<std::string>{"a"});
}

TEST_F(FilesTest, AFileHasTheRightsOfOtherNewFiles) {
  write_text(folder_ / "ours", "");
  std::ofstream(folder_ / "other");
  EXPECT_EQ(fs::status(folder_ / "ours").permissions(), fs::status(folder_ / "other").permissions());
}

TEST_F(FilesTest, WhatCannotBeWrittenIsNamed) {
  expect_error([&] { write_text(folder_ / "none" / "a", "x"); }, "none/a: cannot make a file here: No such file");
  fs::create_directories(folder_ / "a" / "b");
  expect_error([&] { write_text(folder_ / "a", "x"); }, "cannot give this file its name");
  EXPECT_EQ(names(), std::vector<std::string>{"a"});
}

TEST_F(FilesTest, AFolderReplacesAnother) {
  for (const char* text : {"before", "after"}) {
    fs::create_directory(folder_ / "partial");
    write_text(folder_ / "partial" / "a", text);
    put_folder_in_place(folder_ / "partial", folder_ / "target");
    EXPECT_EQ(read_text(folder_ / "target" / "a", 10), text);
    EXPECT_EQ(names(), std::vector<std::string>{"target"});
  }
  expect_error([&] { put_folder_in_place(folder_ / "nothing", folder_ / "x"); }, "cannot give this folder its name");
}

TEST_F(FilesTest, OnlyFilesAreRead) {
  expect_error([&] { read_text(folder_ / "none", 10); }, "none: cannot open this file: No such file");
  expect_error([&] { read_text(folder_, 10); }, "expected a file");
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  expect_error([&] { read_text(folder_ / "pipe", 10); }, "expected a file");
  expect_error([&] { MappedFile mapped(folder_ / "pipe"); }, "expected a file");
}

TEST_F(FilesTest, LinksAreFollowedUnlessRefused) {
  write_text(folder_ / "a", "text");
  fs::create_symlink("a", folder_ / "link");
  EXPECT_EQ(read_text(folder_ / "link", 10), "text");
  expect_error([&] { read_text(folder_ / "link", 10, Links::kRefuse); }, "link: cannot open this file");
  EXPECT_EQ(read_text(folder_ / "a", 10, Links::kRefuse), "text");
}

TEST_F(FilesTest, TextThatIsTooLongOrEndsEarlyIsTold) {
  write_text(folder_ / "a", "12345");
  EXPECT_EQ(read_text(folder_ / "a", 5), "12345");
  expect_error([&] { read_text(folder_ / "a", 4); }, "expected at most 4 bytes, found 5");
  InputFile file(folder_ / "a");
  std::string text(6, ' ');
  expect_error([&] { file.read(text.data(), 6); }, "expected 1 more bytes, found the end");
}

TEST_F(FilesTest, AMappingIsPrivate) {
  write_text(folder_ / "a", "text");
  const MappedFile mapped(folder_ / "a");
  ASSERT_EQ(mapped.size_bytes(), 4u);
  mapped.data()[0] = std::byte{'n'};
  EXPECT_EQ(read_text(folder_ / "a", 10), "text");
  write_text(folder_ / "empty", "");
  EXPECT_EQ(MappedFile(folder_ / "empty").size_bytes(), 0u);
}

}  // namespace
}  // namespace bert
