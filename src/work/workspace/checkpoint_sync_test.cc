#include "work/workspace/checkpoint_sync.h"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>

#include "core/base/await_testing.h"
#include "core/base/folder_testing.h"

namespace trainwarden::workspace {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

class Checkpoints : public testing::Test {
 protected:
  static void write(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  static std::string read(const fs::path& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void await(const std::function<bool()>& is_so) { EXPECT_TRUE(trainwarden::await(is_so)); }

  TestFolder folder_;
  fs::path written_ = folder_.path() / "written";
  fs::path kept_ = folder_.path() / "kept";
};

TEST_F(Checkpoints, WhatIsKeptIsThereBeforeTheStart) {
  write(kept_ / "deep/a.pt", "a");
  write(kept_ / "b.pt", "old");
  write(written_ / "b.pt", "new");
  CheckpointSync sync(written_, kept_);
  ASSERT_TRUE(sync.restore().ok());
  EXPECT_EQ(read(written_ / "deep/a.pt"), "a");
  EXPECT_EQ(read(written_ / "b.pt"), "new") << "what is there is not written over";
}

TEST_F(Checkpoints, WhatIsWrittenIsKeptWhileTheProgramRuns) {
  CheckpointSync sync(written_, kept_);
  ASSERT_TRUE(sync.restore().ok());
  sync.start(milliseconds(20));
  write(written_ / "a.pt", "one");
  await([&] { return read(kept_ / "a.pt") == "one"; });
  write(written_ / "a.pt", "another");
  await([&] { return read(kept_ / "a.pt") == "another"; });
  fs::remove(written_ / "a.pt");
  write(written_ / "last.pt", "last");
  ASSERT_TRUE(sync.finish().ok());
  EXPECT_EQ(read(kept_ / "last.pt"), "last") << "also what was written just now";
  EXPECT_EQ(read(kept_ / "a.pt"), "another") << "nothing is deleted";
}

TEST_F(Checkpoints, OneFolderNeedsNoCopies) {
  CheckpointSync sync(written_, written_);
  ASSERT_TRUE(sync.restore().ok());
  sync.start(milliseconds(1));
  write(written_ / "a.pt", "a");
  ASSERT_TRUE(sync.finish().ok());
  EXPECT_EQ(read(written_ / "a.pt"), "a");
}

TEST_F(Checkpoints, LinksAreNotFollowed) {
  write(folder_.path() / "secret", "secret");
  CheckpointSync sync(written_, kept_);
  ASSERT_TRUE(sync.restore().ok());
  fs::create_symlink(folder_.path() / "secret", written_ / "a.pt");
  ASSERT_TRUE(sync.finish().ok());
  EXPECT_FALSE(fs::exists(kept_ / "a.pt"));
}

TEST_F(Checkpoints, AFolderThatCannotBeMadeIsAnError) {
  write(folder_.path() / "file", "");
  EXPECT_FALSE(CheckpointSync(written_, folder_.path() / "file/kept").restore().ok());
}

}  // namespace
}  // namespace trainwarden::workspace
