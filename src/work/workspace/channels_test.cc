#include "work/workspace/channels.h"

#include <gtest/gtest.h>

#include <fstream>

#include "core/base/folder_testing.h"
#include "work/workspace/layout.h"

namespace trainwarden::workspace {
namespace {

namespace fs = std::filesystem;

class Channels : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((folder_.path() / path).parent_path());
    std::ofstream(folder_.path() / path) << text;
  }
  static std::string read(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  Status link(const jobs::Channel& channel, const JobNode& node = {}) const {
    return link_channel(channel, *local_source(channel, folder_.path(), ""), data_, node);
  }
  std::vector<std::string> names(const fs::path& folder) const {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (!entry.is_directory()) names.push_back(entry.path().lexically_relative(folder).string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  TestFolder folder_;
  fs::path data_ = folder_.path() / "ml/input/data";
};

TEST_F(Channels, AFolderIsThereUnderTheChannelsName) {
  write("set/a.txt", "a");
  for (const std::string& source : {std::string("set"), "file://" + (folder_.path() / "set").string()}) {
    ASSERT_TRUE(link({.name = "train", .source = source}).ok());
    EXPECT_EQ(read(data_ / "train/a.txt"), "a");
  }
  write("set/b.txt", "b");
  EXPECT_EQ(read(data_ / "train/b.txt"), "b") << "nothing was copied";
  ASSERT_TRUE(link({.name = "train", .source = "set"}).ok());
  EXPECT_EQ(read(folder_.path() / "set/a.txt"), "a") << "what a link leads to stays when the link is made anew";
}

TEST_F(Channels, AFileLiesInTheChannelsFolder) {
  write("one.csv", "1,2");
  ASSERT_TRUE(link({.name = "train", .source = "one.csv"}).ok());
  EXPECT_EQ(read(data_ / "train/one.csv"), "1,2");
}

TEST_F(Channels, AShardIsWhatTheRuleSays) {
  EXPECT_EQ(shard_of({"b", "a", "d", "c", "e"}, {0, 2}), (std::vector<std::string>{"a", "c", "e"}));
  EXPECT_EQ(shard_of({"b", "a", "d", "c", "e"}, {1, 2}), (std::vector<std::string>{"b", "d"}));
  EXPECT_EQ(shard_of({"a"}, {1, 2}), std::vector<std::string>());
  EXPECT_EQ(shard_of({"B", "a", "A"}, {0, 3}), std::vector<std::string>{"A"}) << "by bytes, not by words";
}

TEST_F(Channels, EachNodeHasItsShareAndTogetherTheyHaveAll) {
  for (int i = 0; i < 7; ++i) write("set/part/" + std::to_string(i), std::to_string(i));
  std::vector<std::string> all;
  for (int node = 0; node < 3; ++node) {
    const jobs::Channel channel{.name = "train", .source = "set", .distribution = jobs::Distribution::kShardedByKey};
    ASSERT_TRUE(link(channel, {node, 3}).ok());
    const std::vector<std::string> mine = names(data_ / "train");
    EXPECT_EQ(mine.size(), node == 0 ? 3u : 2u) << "the last node's share was taken away";
    all.insert(all.end(), mine.begin(), mine.end());
    EXPECT_EQ(read(data_ / "train.files").substr(0, 7), "part/" + std::to_string(node) + "\n");
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, names(folder_.path() / "set"));
}

TEST_F(Channels, WhatIsNotThereIsAnError) {
  const Status missing = link({.name = "train", .source = "nowhere"});
  EXPECT_EQ(missing.code(), Code::kNotFound);
  EXPECT_NE(missing.message().find("inputs: train: nothing is there"), std::string::npos);
}

}  // namespace
}  // namespace trainwarden::workspace
