// What MemoryStorage has beyond Storage: content to look at and to damage, and power losses.
#include "store/storage/memory_storage.h"

#include <gtest/gtest.h>

namespace trainwarden::storage {
namespace {

Status append_text(WritableFile& file, std::string_view text) {
  const ByteSpan part = as_bytes(text);
  return file.append({&part, 1});
}

TEST(MemoryStorageTest, ContentCanBeDamaged) {
  const auto storage = create_memory_storage();
  ASSERT_TRUE(storage->put_if_absent("file", as_bytes("good")).ok());
  const auto open_before = std::move(storage->open("file")).value();
  storage->set_content("file", "bad");
  EXPECT_EQ(storage->content("file"), "bad");
  EXPECT_EQ(open_before->bytes().value_or(0), 3u);
}

TEST(MemoryStorageTest, SetContentCreatesFileAndFolders) {
  const auto storage = create_memory_storage();
  storage->set_content("a/b/file", "x");
  EXPECT_EQ(storage->read("a/b/file").value_or(""), "x");
  EXPECT_EQ(storage->list("a").value_or({}), std::vector<std::string>{"b"});
}

TEST(MemoryStorageTest, APowerLossTakesWhatWasNotSynced) {
  const auto storage = create_memory_storage();
  const auto synced = std::move(storage->create("synced")).value();
  ASSERT_TRUE(append_text(*synced, "kept").ok());
  ASSERT_TRUE(synced->sync().ok());
  ASSERT_TRUE(append_text(*synced, ", lost").ok());
  const auto never_synced = std::move(storage->create("never")).value();
  ASSERT_TRUE(append_text(*never_synced, "lost").ok());
  ASSERT_TRUE(storage->put_if_absent("put", as_bytes("whole")).ok());

  storage->drop_unsynced();
  EXPECT_EQ(storage->content("synced"), "kept");
  EXPECT_FALSE(storage->exists("never"));
  EXPECT_EQ(storage->content("put"), "whole");
}

TEST(MemoryStorageTest, ALockMayOutliveTheStorage) {
  auto storage = create_memory_storage();
  const auto lock = std::move(storage->lock("lock")).value();
  storage.reset();
}

}  // namespace
}  // namespace trainwarden::storage
