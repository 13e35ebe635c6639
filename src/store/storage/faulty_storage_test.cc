// The faults: each call that can fail does so exactly when the plan says.
#include "store/storage/faulty_storage.h"

#include <gtest/gtest.h>

#include "store/storage/memory_storage.h"

namespace trainwarden::storage {
namespace {

class FaultyStorageTest : public testing::Test {
 protected:
  // Everything once; the first failure, if any. It keeps on trying, so that the calls have the same numbers each time
  // as far as they do not need what failed.
  Status use_all() {
    Status first;
    const auto note = [&](const Status& status) {
      if (first.ok()) first = status;
      return status.ok();
    };
    note(storage_->create_folder("folder"));
    note(storage_->put_if_absent("put", as_bytes("text")));
    note(storage_->lock("lock").status());
    if (auto file = storage_->create("file"); note(file.status())) {
      const ByteSpan part = as_bytes("appended");
      note((*file)->append({&part, 1}));
      note((*file)->sync());
      note((*file)->close());
    }
    if (auto file = storage_->open("file"); note(file.status())) {
      std::array<std::byte, 4> bytes{};
      note((*file)->read_at(0, bytes).status());
      note((*file)->bytes().status());
    }
    note(storage_->read("put").status());
    note(storage_->list("").status());
    return first;
  }

  std::unique_ptr<MemoryStorage> base_ = create_memory_storage();
  std::unique_ptr<FaultyStorage> storage_ = create_faulty_storage(*base_);
};

TEST_F(FaultyStorageTest, CountsTheCallsThatCouldHaveFailed) {
  EXPECT_TRUE(use_all().ok());
  EXPECT_EQ(storage_->calls(), 12);
  storage_->set_plan({});
  EXPECT_EQ(storage_->calls(), 0);
  EXPECT_TRUE(storage_->exists("put"));
  EXPECT_FALSE(storage_->locked("lock"));
  EXPECT_EQ(storage_->calls(), 0);
}

TEST_F(FaultyStorageTest, TheCallOfThePlanFailsAndNoOther) {
  for (int call = 0; call < 12; ++call) {
    SCOPED_TRACE(call);
    base_ = create_memory_storage();
    storage_ = create_faulty_storage(*base_);
    storage_->set_plan({.fail_call = call, .code = Code::kUnavailable});
    const Status first = use_all();
    EXPECT_EQ(first.code(), Code::kUnavailable);
    EXPECT_NE(first.message().find("call " + std::to_string(call) + " "), std::string::npos) << first.message();
  }
}

TEST_F(FaultyStorageTest, AllCallsAfterItFailWhenAsked) {
  storage_->set_plan({.fail_call = 1, .fail_all_after = true});
  EXPECT_TRUE(storage_->create_folder("folder").ok());
  EXPECT_EQ(storage_->list("").status().code(), Code::kResourceExhausted);
  EXPECT_EQ(storage_->list("").status().code(), Code::kResourceExhausted);
  storage_->set_plan({});
  EXPECT_TRUE(storage_->list("").ok());
}

TEST_F(FaultyStorageTest, AFailedAppendLeavesNothingOrHalf) {
  for (const bool short_write : {false, true}) {
    SCOPED_TRACE(short_write);
    const std::string path = short_write ? "half" : "nothing";
    const auto file = std::move(storage_->create(path)).value();
    const std::array parts = {as_bytes("abc"), as_bytes("defghij")};
    ASSERT_TRUE(file->append(parts).ok());
    storage_->set_plan({.fail_call = 0, .short_write = short_write});
    EXPECT_EQ(file->append(parts).code(), Code::kResourceExhausted);
    EXPECT_EQ(base_->content(path), short_write ? "abcdefghijabcde" : "abcdefghij");
    storage_->set_plan({});
    EXPECT_EQ(file->append(parts).code(), Code::kFailedPrecondition);
  }
}

TEST_F(FaultyStorageTest, AFailedPutLeavesNothing) {
  storage_->set_plan({.fail_call = 0});
  EXPECT_FALSE(storage_->put_if_absent("put", as_bytes("x")).ok());
  EXPECT_FALSE(base_->exists("put"));
}

}  // namespace
}  // namespace trainwarden::storage
