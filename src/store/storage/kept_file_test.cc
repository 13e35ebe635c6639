// Files and locks of LocalStorage in a program that closes descriptors which are not its own, and opens others.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <span>
#include <string>

#include "core/base/clock.h"
#include "core/base/descriptor_testing.h"
#include "core/base/folder_testing.h"
#include "store/storage/lease.h"
#include "store/storage/local_storage.h"

namespace trainwarden::storage {
namespace {

namespace fs = std::filesystem;

class KeptFileTest : public testing::Test {
 protected:
  void create(const std::string& name) {
    auto created = storage_->create(name);
    ASSERT_TRUE(created.ok());
    file_ = *std::move(created);
  }
  Status append(std::string_view text) {
    const ByteSpan part = as_bytes(text);
    return file_->append({&part, 1});
  }
  fs::path path(const std::string& name) const { return folder_.path() / name; }

  TestFolder folder_;
  std::unique_ptr<Storage> storage_ = open_local_storage(folder_.path());
  std::unique_ptr<WritableFile> file_;
};

TEST_F(KeptFileTest, AFileThatIsWrittenGoesOnUnderAnotherNumber) {
  create("segment");
  ASSERT_TRUE(append("one ").ok());
  const TakenNumbers taken(path("segment"));
  ASSERT_EQ(taken.size(), 1u);
  ASSERT_TRUE(append("two ").ok());
  EXPECT_TRUE(file_->sync().ok());
  ASSERT_TRUE(append("three").ok());
  EXPECT_EQ(file_->bytes(), 13u);
  EXPECT_TRUE(file_->close().ok());
  EXPECT_EQ(*storage_->read("segment"), "one two three");
  EXPECT_TRUE(numbers_of(path("segment")).empty());
  EXPECT_EQ(taken.touched(), "");
}

TEST_F(KeptFileTest, WhatIsClosedThenIsNotTheProgramsFile) {
  create("segment");
  ASSERT_TRUE(append("one").ok());
  const TakenNumbers taken(path("segment"));
  EXPECT_TRUE(file_->close().ok());
  EXPECT_EQ(taken.touched(), "");
  create("another");
  const TakenNumbers also_taken(path("another"));
  file_.reset();
  EXPECT_EQ(also_taken.touched(), "");
}

TEST_F(KeptFileTest, AFileThatIsGoneEndsTheWriting) {
  create("segment");
  ASSERT_TRUE(append("one").ok());
  const TakenNumbers taken(path("segment"));
  fs::remove(path("segment"));
  const Status gone = append("two");
  EXPECT_EQ(gone.code(), Code::kNotFound);
  EXPECT_NE(gone.message().find("the program has closed the descriptor"), std::string::npos) << gone.message();
  EXPECT_FALSE(append("three").ok());
  EXPECT_FALSE(file_->sync().ok());
  file_.reset();
  EXPECT_EQ(taken.touched(), "");
}

TEST_F(KeptFileTest, AnotherFileInItsPlaceEndsTheWriting) {
  create("segment");
  const TakenNumbers taken(path("segment"));
  fs::rename(path("segment"), path("moved"));
  ASSERT_TRUE(storage_->replace("segment", {}).ok());
  EXPECT_EQ(append("one").code(), Code::kFailedPrecondition);
  EXPECT_EQ(*storage_->read("segment"), "");
  EXPECT_EQ(taken.touched(), "");
}

TEST_F(KeptFileTest, AFileThatSomebodyElseHasWrittenToEndsTheWriting) {
  create("segment");
  ASSERT_TRUE(append("one").ok());
  const int number = numbers_of(path("segment")).front();
  ASSERT_EQ(::write(number, "?", 1), 1);
  ASSERT_EQ(::close(number), 0);
  EXPECT_EQ(append("two").code(), Code::kFailedPrecondition);
  EXPECT_EQ(*storage_->read("segment"), "one?");
}

TEST_F(KeptFileTest, AFileThatIsReadIsOpenedAgain) {
  const std::string_view text = "content";
  ASSERT_TRUE(storage_->put_if_absent("segment", as_bytes(text)).ok());
  auto reader = *storage_->open("segment");
  const TakenNumbers taken(path("segment"));
  ASSERT_EQ(taken.size(), 1u);
  std::string got(text.size(), '\0');
  EXPECT_EQ(*reader->read_at(0, std::as_writable_bytes(std::span(got))), text.size());
  EXPECT_EQ(got, text);
  EXPECT_EQ(*reader->bytes(), text.size());
  EXPECT_TRUE(reader->map().ok());
  const TakenNumbers also_taken(path("segment"));
  ASSERT_EQ(also_taken.size(), 1u);
  reader.reset();
  EXPECT_EQ(taken.touched(), "");
  EXPECT_EQ(also_taken.touched(), "");
}

TEST_F(KeptFileTest, ALockIsTakenAgain) {
  const auto lock = *storage_->lock("writer.lock");
  EXPECT_TRUE(lock->keep().ok());
  const TakenNumbers taken(path("writer.lock"));
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_FALSE(storage_->locked("writer.lock")) << "the system has freed it";
  EXPECT_TRUE(lock->keep().ok());
  EXPECT_TRUE(storage_->locked("writer.lock"));
  EXPECT_EQ(storage_->lock_holder("writer.lock"), ::getpid());
  EXPECT_EQ(taken.touched(), "");
}

TEST_F(KeptFileTest, ALockThatAnotherHasByNowIsLost) {
  auto lock = *storage_->lock("writer.lock");
  ASSERT_EQ(::close(numbers_of(path("writer.lock")).front()), 0);
  const auto other = storage_->lock("writer.lock");  // under the same number, and the same file
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(lock->keep().code(), Code::kAlreadyExists);
  lock.reset();
  EXPECT_TRUE(storage_->locked("writer.lock")) << "it was not the first one's to close";
  EXPECT_TRUE((*other)->keep().ok());
}

TEST_F(KeptFileTest, AForkedChildNeitherHasNorTakesTheLock) {
  const auto lock = *storage_->lock("writer.lock");
  const pid_t child = ::fork();
  if (child == 0) {
    const bool is_free = numbers_of(path("writer.lock")).empty();
    ::_exit(is_free && lock->keep().ok() && numbers_of(path("writer.lock")).empty() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(storage_->locked("writer.lock"));
}

TEST_F(KeptFileTest, ALeaseTakesItsLockAgainAtEachBeat) {
  FakeClock clock;
  const auto lease = take_lease(*storage_, "writer", clock);
  ASSERT_TRUE(lease.ok());
  const TakenNumbers taken(path("writer.lock"));
  EXPECT_TRUE((*lease)->beat().ok()) << "long before the promise is due";
  EXPECT_TRUE(storage_->locked("writer.lock"));
  EXPECT_EQ(taken.touched(), "");

  ASSERT_EQ(::close(numbers_of(path("writer.lock")).front()), 0);
  const auto other = storage_->lock("writer.lock");
  EXPECT_EQ((*lease)->beat().code(), Code::kAlreadyExists);
  EXPECT_EQ((*lease)->beat().code(), Code::kAlreadyExists);
}

}  // namespace
}  // namespace trainwarden::storage
