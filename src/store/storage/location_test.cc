#include "store/storage/location.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "core/base/folder_testing.h"
#include "store/storage/memory_storage.h"

namespace trainwarden::storage {
namespace {

namespace fs = std::filesystem;

TEST(LocationTest, AFolderIsReachedByItsPath) {
  const TestFolder folder;
  const Location run(folder.path() / "first");
  ASSERT_TRUE(run.storage().create_folder("").ok());
  EXPECT_TRUE(fs::is_directory(folder.path() / "first"));
  EXPECT_EQ(run.folder(), folder.path() / "first");
  EXPECT_EQ(run.address(), (folder.path() / "first").string());
  EXPECT_EQ(run.name(), "first");
}

TEST(LocationTest, TheNameOfAFolderDoesNotDependOnHowItWasWritten) {
  EXPECT_EQ(Location("runs/first/").name(), "first");
  EXPECT_EQ(Location("runs/x/../first").name(), "first");
  EXPECT_EQ(Location(".").name(), fs::current_path().filename().string());
}

TEST(LocationTest, AFileAddressIsAFolder) {
  const TestFolder folder;
  const Location run("file://" + folder.path().string());
  EXPECT_EQ(run.folder(), folder.path());
  EXPECT_TRUE(run.storage().exists(""));
}

TEST(LocationTest, AnUnknownSchemeSaysWhichThereAre) {
  const Location run("tape://reel/first");
  EXPECT_FALSE(run.folder());
  EXPECT_EQ(run.name(), "first");
  const Status failed = run.storage().create_folder("");
  EXPECT_EQ(failed.code(), Code::kUnimplemented);
  EXPECT_NE(failed.message().find("tape://reel/first"), std::string::npos) << failed.message();
  EXPECT_NE(failed.message().find("file://"), std::string::npos) << failed.message();
  EXPECT_EQ(run.storage().read("run.json").status().code(), Code::kUnimplemented);
  EXPECT_FALSE(run.storage().exists("run.json"));
}

TEST(LocationTest, AColonMakesNoScheme) {
  EXPECT_TRUE(Location("runs/a://b").folder());
  EXPECT_TRUE(Location("C://b").folder());
}

TEST(LocationTest, AChildOfAFolderMayBeALinkOfTheUsersOwn) {
  const TestFolder folder;
  fs::create_directories(folder.path() / "elsewhere" / "first");
  fs::create_directory_symlink(folder.path() / "elsewhere", folder.path() / "runs");
  fs::create_directory_symlink("first", folder.path() / "elsewhere" / "latest");
  const Location latest = Location(folder.path() / "runs").child("latest");
  EXPECT_TRUE(latest.storage().exists(""));
  EXPECT_EQ(latest.name(), "latest");
}

TEST(LocationTest, WhatIsBeneathIsReachedThroughNoLink) {
  const TestFolder folder;
  fs::create_directories(folder.path() / "run" / "boxes" / "one");
  fs::create_directory_symlink("boxes", folder.path() / "run" / "planted");
  const Location run(folder.path() / "run");
  const Location inside = run.beneath("boxes/one");
  EXPECT_TRUE(inside.storage().exists(""));
  EXPECT_EQ(inside.folder(), folder.path() / "run" / "boxes" / "one");
  EXPECT_EQ(inside.name(), "one");
  const Location planted = run.beneath("planted/one");
  EXPECT_FALSE(planted.storage().exists(""));
}

TEST(LocationTest, WhatLiesInAnyStorageIsReachedTheSameWay) {
  const std::shared_ptr<MemoryStorage> memory = create_memory_storage();
  memory->set_content("first/run.json", "{}");
  const Location runs(memory, "mem://runs");
  EXPECT_FALSE(runs.folder());
  const Location run = runs.child("first");
  EXPECT_EQ(run.address(), "mem://runs/first");
  EXPECT_EQ(run.name(), "first");
  EXPECT_EQ(run.storage().read("run.json").value_or(""), "{}");
  EXPECT_EQ(run.storage().list("").value_or({}), std::vector<std::string>{"run.json"});
  EXPECT_EQ(run.storage().read("../first/run.json").status().code(), Code::kInvalidArgument);
  ASSERT_TRUE(run.storage().replace("note", ByteSpan()).ok());
  EXPECT_TRUE(memory->exists("first/note"));
  const auto lock = run.storage().lock("writer.lock");
  ASSERT_TRUE(lock.ok());
  EXPECT_TRUE(memory->locked("first/writer.lock"));
}

TEST(LocationTest, ANameInABucketMayEndInASlash) {
  EXPECT_EQ(Location("s3://bucket/runs/first").name(), "first");
  EXPECT_EQ(Location("s3://bucket/runs/first//").name(), "first");
}

}  // namespace
}  // namespace trainwarden::storage
