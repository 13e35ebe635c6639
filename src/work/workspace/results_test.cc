#include "work/workspace/results.h"

#include <gtest/gtest.h>

#include <fstream>

#include "core/base/folder_testing.h"
#include "core/process/captured_output.h"

namespace trainwarden::workspace {
namespace {

namespace fs = std::filesystem;

class Results : public testing::Test {
 protected:
  Results() {
    layout_.model = folder_.path() / "model";
    layout_.output_data = folder_.path() / "data";
    layout_.results = folder_.path() / "results";
    fs::create_directories(layout_.model);
    fs::create_directories(layout_.output_data);
  }
  static void write(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  static std::string read(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  TestFolder folder_;
  JobLayout layout_;
};

TEST_F(Results, NothingToPackPacksNothing) {
  EXPECT_FALSE(has_results(layout_));
  ASSERT_TRUE(pack_results(layout_).ok());
  EXPECT_FALSE(fs::exists(layout_.results));
}

TEST_F(Results, TheSameFilesGiveTheSameBytes) {
  write(layout_.model / "b.pt", "weights");
  write(layout_.model / "a/config.json", "{}");
  EXPECT_TRUE(has_results(layout_));
  ASSERT_TRUE(pack_results(layout_).ok());
  const std::string first = read(layout_.results / "model.tar.gz");
  fs::remove_all(layout_.model);
  write(layout_.model / "a/config.json", "{}");
  write(layout_.model / "b.pt", "weights");
  fs::last_write_time(layout_.model / "b.pt", fs::file_time_type::clock::now() - std::chrono::hours(48));
  ASSERT_TRUE(pack_results(layout_).ok());
  EXPECT_EQ(read(layout_.results / "model.tar.gz"), first);
  EXPECT_FALSE(fs::exists(layout_.results / "output.tar.gz"));
  EXPECT_FALSE(fs::exists(layout_.results / "model.tar.gz.partial"));
  const auto listed =
      process::capture_output({.command = {"tar", "--list", "--file", (layout_.results / "model.tar.gz").string()}},
                              4096, std::chrono::seconds(60));
  ASSERT_TRUE(listed.ok());
  EXPECT_EQ(listed->text, "./\n./a/\n./a/config.json\n./b.pt\n");
}

TEST_F(Results, WhatCannotBePackedIsAnErrorAndNoArchive) {
  write(layout_.output_data / "a.txt", "a");
  write(layout_.results, "a file is in the way");
  EXPECT_FALSE(pack_results(layout_).ok());
}

}  // namespace
}  // namespace trainwarden::workspace
