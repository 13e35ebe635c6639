// What somebody may have put into a run's folder: links where folders and files are expected.
#include "store/storage/beneath.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/base/folder_testing.h"
#include "store/storage/local_storage.h"
#include "store/storage/local_storage_ways.h"
#include "store/storage/put_file.h"

namespace trainwarden::storage {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSecret = "4711 is the victim's\n";

std::string content_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

// A run's folder, and beside it a folder of somebody else's.
class BeneathTest : public testing::TestWithParam<Beneath::Way> {
 protected:
  void SetUp() override {
    fs::create_directories(victim_ / "folder");
    fs::create_directories(run_);
    std::ofstream(victim_ / "file") << kSecret;
    std::ofstream(victim_ / "folder" / "file") << kSecret;
  }
  void TearDown() override {
    EXPECT_EQ(content_of(victim_ / "file"), kSecret);
    EXPECT_EQ(content_of(victim_ / "folder" / "file"), kSecret);
    EXPECT_EQ(std::distance(fs::directory_iterator(victim_ / "folder"), {}), 1) << "something was put there";
  }

  void expect_refused(const Status& status) {
    EXPECT_EQ(status.code(), Code::kPermissionDenied) << status.to_string();
    EXPECT_NE(status.message().find("symbolic link"), std::string::npos) << status.message();
  }

  TestFolder folder_;
  const fs::path victim_ = folder_.path() / "victim";
  const fs::path run_ = folder_.path() / "run";
  const std::unique_ptr<Storage> storage_ = open_local_storage(run_, GetParam());
};

TEST_P(BeneathTest, ALinkToAFileIsNotThere) {
  fs::create_symlink(victim_ / "file", run_ / "link");
  expect_refused(storage_->open("link").status());
  expect_refused(storage_->read("link").status());
  expect_refused(storage_->lock("link").status());
  EXPECT_FALSE(storage_->exists("link"));
  EXPECT_FALSE(storage_->locked("link"));
  EXPECT_EQ(storage_->lock_holder("link"), std::nullopt);
  EXPECT_EQ(storage_->create("link").status().code(), Code::kAlreadyExists);
  EXPECT_EQ(storage_->put_if_absent("link", as_bytes("x")).code(), Code::kAlreadyExists);
  EXPECT_EQ(storage_->list("").value_or({"?"}), std::vector<std::string>());
}

TEST_P(BeneathTest, ALinkToAFolderLeadsNowhere) {
  fs::create_directories(run_ / "real");
  for (const std::string place : {"journal", "real/journal"}) {
    SCOPED_TRACE(place);
    fs::create_symlink(victim_ / "folder", run_ / place);
    expect_refused(storage_->list(place).status());
    expect_refused(storage_->open(place + "/file").status());
    expect_refused(storage_->read(place + "/file").status());
    expect_refused(storage_->create(place + "/new").status());
    expect_refused(storage_->put_if_absent(place + "/new", as_bytes("x")));
    expect_refused(storage_->lock(place + "/new").status());
    expect_refused(storage_->create_folder(place));
    expect_refused(storage_->create_folder(place + "/new"));
    EXPECT_FALSE(storage_->exists(place));
    EXPECT_FALSE(storage_->exists(place + "/file"));
  }
}

// Also one that stays within the run: a segment that is another's would be counted twice.
TEST_P(BeneathTest, ALinkWithinTheRunIsALinkToo) {
  ASSERT_TRUE(storage_->put_if_absent("file", as_bytes("x")).ok());
  fs::create_symlink("file", run_ / "link");
  expect_refused(storage_->open("link").status());
  EXPECT_EQ(storage_->list("").value_or({}), std::vector<std::string>{"file"});
}

TEST_P(BeneathTest, ALinkToNothingCreatesNothing) {
  fs::create_symlink(victim_ / "new", run_ / "link");
  expect_refused(storage_->lock("link").status());
  EXPECT_EQ(storage_->create("link").status().code(), Code::kAlreadyExists);
  EXPECT_EQ(storage_->put_if_absent("link", as_bytes("x")).code(), Code::kAlreadyExists);
  EXPECT_FALSE(fs::exists(victim_ / "new"));
}

TEST_P(BeneathTest, TheRootMayBeALink) {
  fs::create_directory_symlink(run_, folder_.path() / "latest");
  const auto latest = open_local_storage(folder_.path() / "latest", GetParam());
  ASSERT_TRUE(latest->create_folder("journal").ok());
  ASSERT_TRUE(latest->put_if_absent("journal/file", as_bytes("x")).ok());
  EXPECT_EQ(storage_->read("journal/file").value_or(""), "x");
  EXPECT_EQ(latest->list("journal").value_or({}), std::vector<std::string>{"file"});
  EXPECT_TRUE(latest->lock("journal/lock").ok());
}

// Another name of a file that its owner wants to keep as it is.
TEST_P(BeneathTest, AHardLinkIsNoLockFile) {
  fs::create_hard_link(victim_ / "file", run_ / "lock");
  const Status refused = storage_->lock("lock").status();
  EXPECT_EQ(refused.code(), Code::kPermissionDenied);
  EXPECT_NE(refused.message().find("2 names"), std::string::npos) << refused.message();
}

TEST_P(BeneathTest, AFileWithATextIsNoLockFile) {
  for (const std::string text : {"# my notes", "12 34", "123456789012345678901234567890123"}) {
    std::ofstream(run_ / "lock", std::ios::trunc) << text;
    EXPECT_EQ(storage_->lock("lock").status().code(), Code::kPermissionDenied) << text;
    EXPECT_EQ(content_of(run_ / "lock"), text);
  }
}

TEST_P(BeneathTest, APipeIsNoLockFile) {
  ASSERT_EQ(::mkfifo((run_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(storage_->lock("pipe").status().code(), Code::kPermissionDenied);
}

// Somebody puts links in the place of a folder and takes them away, while we write.
TEST_P(BeneathTest, ALinkThatComesAndGoesIsNeverFollowed) {
  fs::create_directories(run_ / "real");
  fs::create_symlink(victim_ / "folder", run_ / "other");
  fs::rename(run_ / "real", run_ / "place");
  std::jthread swapping([&](const std::stop_token& stop) {
    const std::string place = run_ / "place";
    const std::string other = run_ / "other";
    while (!stop.stop_requested()) ::renameat2(AT_FDCWD, place.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE);
  });
  int refused = 0;
  int created = 0;
  for (int i = 0; refused + created < 400 || refused == 0 || created == 0; ++i) {
    const auto file = storage_->create("place/file-" + std::to_string(i));
    (file.ok() ? created : refused) += 1;
  }
}

INSTANTIATE_TEST_SUITE_P(All, BeneathTest, testing::Values(Beneath::Way::kAtOnce, Beneath::Way::kByParts),
                         [](const testing::TestParamInfo<Beneath::Way>& way) {
                           return std::string(way.param == Beneath::Way::kAtOnce ? "AtOnce" : "ByParts");
                         });

// --- names ----------------------------------------------------------------------------------------------------------

int cannot(int /*folder*/, const char* /*from*/, const char* /*to*/) {
  errno = EOPNOTSUPP;
  return -1;
}

// A file system without hard links, and one that has no rename that replaces nothing either.
class PutFileTest : public testing::TestWithParam<bool> {
 protected:
  Status put(const std::string& path, std::string_view content) {
    const NamingCalls calls{cannot, GetParam() ? system_naming_calls().rename_if_absent : cannot};
    return put_file_if_absent(Beneath(folder_.path()), path, as_bytes(content), calls);
  }
  std::vector<std::string> names() { return open_local_storage(folder_.path())->list("").value_or({"?"}); }

  TestFolder folder_;
};

TEST_P(PutFileTest, WorksAsWithHardLinks) {
  EXPECT_TRUE(put("file", "first").ok());
  EXPECT_EQ(put("file", "second").code(), Code::kAlreadyExists);
  EXPECT_EQ(content_of(folder_.path() / "file"), "first");
  EXPECT_EQ(names(), std::vector<std::string>{"file"});
  EXPECT_EQ(put("no/file", "x").code(), Code::kNotFound);
}

TEST_P(PutFileTest, OnlyOneOfManyPuts) {
  std::vector<Status> results(8);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < results.size(); ++i) {
      threads.emplace_back([&, i] { results[i] = put("file", std::to_string(i)); });
    }
  }
  int first = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].ok()) {
      EXPECT_EQ(results[i].code(), Code::kAlreadyExists);
      continue;
    }
    ++first;
    EXPECT_EQ(content_of(folder_.path() / "file"), std::to_string(i));
  }
  EXPECT_EQ(first, 1);
  EXPECT_EQ(names(), std::vector<std::string>{"file"});
}

INSTANTIATE_TEST_SUITE_P(All, PutFileTest, testing::Bool(), [](const testing::TestParamInfo<bool>& renames) {
  return std::string(renames.param ? "Renames" : "HasNeither");
});

TEST(NamingTest, RandomNamesDiffer) {
  const std::string name = random_name().value_or("");
  EXPECT_EQ(name.size(), 32u);
  EXPECT_EQ(name.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(name, random_name().value_or(""));
}

// As a process with our id in another container that shares the volume may have left it.
TEST(NamingTest, WhatOthersLeftOverIsInNobodysWay) {
  const TestFolder folder;
  for (int i = 0; i < 100; ++i) {
    std::ofstream(folder.path() / ("file." + std::to_string(::getpid()) + "-" + std::to_string(i) + ".tmp")) << "old";
  }
  const auto storage = open_local_storage(folder.path());
  EXPECT_TRUE(storage->put_if_absent("file", as_bytes("new")).ok());
  EXPECT_EQ(storage->read("file").value_or(""), "new");
}

}  // namespace
}  // namespace trainwarden::storage
