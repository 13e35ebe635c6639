#include "core/base/text_file.h"

#include <fstream>

#include <gtest/gtest.h>

#include "core/base/folder_testing.h"

namespace trainwarden {
namespace {

TEST(TextFile, IsReadWholeByteForByte) {
  const TestFolder folder;
  const std::string text("a\r\n\0b\n", 6);
  std::ofstream(folder.path() / "file", std::ios::binary) << text;
  EXPECT_EQ(read_text_file(folder.path() / "file"), text);
}

TEST(TextFile, WhatIsMissingOrAFolderIsNone) {
  const TestFolder folder;
  EXPECT_EQ(read_text_file(folder.path() / "missing"), std::nullopt);
  EXPECT_EQ(read_text_file(folder.path()), std::nullopt);
  EXPECT_EQ(read_text_file(""), std::nullopt);
}

TEST(TextFile, LinesThatCountAreTrimmedAndNoComments) {
  EXPECT_EQ(lines_that_count("  a b \r\n\n# no\n \t\n  # nor this\nlast"), (std::vector<std::string>{"a b", "last"}));
  EXPECT_TRUE(lines_that_count("").empty());
}

}  // namespace
}  // namespace trainwarden
