#include "store/storage/new_folder.h"

#include <fstream>

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "core/base/bytes.h"
#include "core/base/folder_testing.h"

namespace trainwarden::storage {
namespace {

namespace fs = std::filesystem;

class NewFolderTest : public testing::Test {
 protected:
  fs::path target() const { return folder_.path() / "copy"; }
  fs::path unfinished() const { return folder_.path() / "copy.unfinished"; }
  TestFolder folder_;
};

TEST_F(NewFolderTest, HasItsNameOnlyWhenAllIsInIt) {
  auto folder = NewFolder::begin(target());
  ASSERT_TRUE(folder.ok()) << folder.status().to_string();
  ASSERT_TRUE((*folder)->storage()->create_folder("inside").ok());
  ASSERT_TRUE((*folder)->storage()->put_if_absent("inside/file", as_bytes("text")).ok());
  EXPECT_FALSE(fs::exists(target()));
  EXPECT_TRUE(fs::exists(unfinished()));
  ASSERT_TRUE((*folder)->finish().ok());
  EXPECT_TRUE(fs::exists(target() / "inside" / "file"));
  EXPECT_FALSE(fs::exists(target() / kUnfinishedLock));
  EXPECT_FALSE(fs::exists(unfinished()));
}

TEST_F(NewFolderTest, NothingStaysOfOneThatIsGivenUp) {
  { ASSERT_TRUE((*NewFolder::begin(target()))->storage()->put_if_absent("file", as_bytes("text")).ok()); }
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(NewFolderTest, NothingIsTakenThatIsThere) {
  fs::create_directory(target());
  EXPECT_EQ(NewFolder::begin(target()).status().code(), Code::kAlreadyExists);
  fs::remove(target());
  fs::create_symlink("nowhere", target());
  EXPECT_EQ(NewFolder::begin(target()).status().code(), Code::kAlreadyExists);
  fs::remove(target());
  auto folder = NewFolder::begin(target());
  ASSERT_TRUE(folder.ok());
  fs::create_directory(target());  // meanwhile, and empty: a plain rename would replace it
  EXPECT_EQ((*folder)->finish().code(), Code::kAlreadyExists);
  folder->reset();
  EXPECT_TRUE(fs::exists(target()));
  EXPECT_FALSE(fs::exists(unfinished()));
}

TEST_F(NewFolderTest, TwoDoNotMakeTheSame) {
  const auto folder = NewFolder::begin(target());
  ASSERT_TRUE(folder.ok());
  EXPECT_EQ(NewFolder::begin(target()).status().code(), Code::kAlreadyExists);
  EXPECT_TRUE(fs::exists(unfinished()));
}

TEST_F(NewFolderTest, WhatAKilledProcessLeftIsMadeAnew) {
  const pid_t child = fork();
  if (child == 0) {
    auto folder = NewFolder::begin(target());
    const bool put = folder.ok() && (*folder)->storage()->put_if_absent("old", as_bytes("half")).ok();
    if (!put) _exit(1);
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  ASSERT_TRUE(fs::exists(unfinished() / "old"));
  auto folder = NewFolder::begin(target());
  ASSERT_TRUE(folder.ok()) << folder.status().to_string();
  EXPECT_FALSE(fs::exists(unfinished() / "old"));
  ASSERT_TRUE((*folder)->finish().ok());
  EXPECT_TRUE(fs::is_empty(target()));
}

TEST_F(NewFolderTest, WhatIsNotOursIsLeftAlone) {
  fs::create_directory(unfinished());
  std::ofstream(unfinished() / "thesis.txt") << "words";
  EXPECT_EQ(NewFolder::begin(target()).status().code(), Code::kFailedPrecondition);
  EXPECT_TRUE(fs::exists(unfinished() / "thesis.txt"));
  EXPECT_EQ(NewFolder::begin("s3://bucket/copy").status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace trainwarden::storage
