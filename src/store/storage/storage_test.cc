// What every Storage must do, run against each of them.
#include "store/storage/storage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "core/base/folder_testing.h"
#include "store/storage/faulty_storage.h"
#include "store/storage/local_storage.h"
#include "store/storage/local_storage_ways.h"
#include "store/storage/memory_storage.h"

namespace trainwarden::storage {
namespace {

// A storage and whatever must live as long as it.
class Subject {
 public:
  virtual ~Subject() = default;
  virtual Storage& storage() = 0;
};

class LocalSubject final : public Subject {
 public:
  explicit LocalSubject(Beneath::Way way) : storage_(open_local_storage(folder_.path() / "run", way)) {}
  Storage& storage() override { return *storage_; }

 private:
  TestFolder folder_;
  std::unique_ptr<Storage> storage_;
};

class MemorySubject final : public Subject {
 public:
  Storage& storage() override { return *storage_; }

 private:
  std::unique_ptr<MemoryStorage> storage_ = create_memory_storage();
};

class FaultySubject final : public Subject {
 public:
  Storage& storage() override { return *storage_; }

 private:
  std::unique_ptr<MemoryStorage> base_ = create_memory_storage();
  std::unique_ptr<FaultyStorage> storage_ = create_faulty_storage(*base_);
};

struct Kind {
  const char* name;
  std::function<std::unique_ptr<Subject>()> create;
};

class StorageTest : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override { ASSERT_TRUE(storage().create_folder("").ok()); }

  Storage& storage() { return subject_->storage(); }

  Status put(const std::string& path, std::string_view content) {
    return storage().put_if_absent(path, as_bytes(content));
  }
  std::string content(const std::string& path) { return storage().read(path).value_or("(cannot be read)"); }
  std::unique_ptr<WritableFile> create(const std::string& path) { return std::move(storage().create(path)).value(); }

  static Status append(WritableFile& file, std::string_view text) {
    const ByteSpan part = as_bytes(text);
    return file.append({&part, 1});
  }

 private:
  std::unique_ptr<Subject> subject_ = GetParam().create();
};

TEST_P(StorageTest, AppendedPartsFollowOneAnotherAndAreSeenAtOnce) {
  const auto file = create("seg");
  const std::array parts = {as_bytes("one"), as_bytes(""), as_bytes(" two"), as_bytes(" three")};
  ASSERT_TRUE(file->append(parts).ok());
  EXPECT_EQ(content("seg"), "one two three");
  ASSERT_TRUE(append(*file, "!").ok());
  EXPECT_EQ(content("seg"), "one two three!");
  EXPECT_EQ(file->bytes(), 14u);
}

TEST_P(StorageTest, AppendTakesMorePartsThanTheSystemDoes) {
  std::string expected;
  std::vector<std::string> texts;
  for (int i = 0; i < 5000; ++i) texts.push_back(std::to_string(i) + ",");
  std::vector<ByteSpan> parts;
  for (const std::string& text : texts) {
    parts.push_back(as_bytes(text));
    expected += text;
  }
  ASSERT_TRUE(create("many")->append(parts).ok());
  EXPECT_EQ(content("many"), expected);
}

TEST_P(StorageTest, AppendTakesPartsLargerThanAWindowOfWriteBack) {
  std::string large(std::size_t{20} << 20, 'x');
  for (std::size_t i = 0; i < large.size(); i += 4096) large[i] = static_cast<char>('a' + i / 4096 % 26);
  const auto file = create("large");
  const std::array parts = {as_bytes("start"), as_bytes(large), as_bytes("end")};
  ASSERT_TRUE(file->append(parts).ok());
  EXPECT_EQ(file->bytes(), large.size() + 8);
  EXPECT_EQ(storage().read("large", 64u << 20).value_or(""), "start" + large + "end");
}

TEST_P(StorageTest, EmptyAppendIsFine) {
  const auto file = create("empty");
  EXPECT_TRUE(file->append({}).ok());
  EXPECT_TRUE(append(*file, "").ok());
  EXPECT_TRUE(file->sync().ok());
  EXPECT_EQ(content("empty"), "");
}

TEST_P(StorageTest, ClosedFilesTakeNothingMore) {
  const auto file = create("closed");
  ASSERT_TRUE(append(*file, "kept").ok());
  EXPECT_TRUE(file->sync().ok());
  EXPECT_TRUE(file->close().ok());
  EXPECT_TRUE(file->close().ok());
  EXPECT_EQ(append(*file, "more").code(), Code::kFailedPrecondition);
  EXPECT_EQ(file->sync().code(), Code::kFailedPrecondition);
  EXPECT_EQ(content("closed"), "kept");
}

TEST_P(StorageTest, CreateNeverTakesWhatIsThere) {
  ASSERT_TRUE(put("file", "first").ok());
  ASSERT_TRUE(storage().create_folder("folder").ok());
  EXPECT_EQ(storage().create("file").status().code(), Code::kAlreadyExists);
  EXPECT_EQ(storage().create("folder").status().code(), Code::kAlreadyExists);
  EXPECT_EQ(content("file"), "first");
}

TEST_P(StorageTest, FilesNeedTheirFolder) {
  EXPECT_EQ(storage().create("no/file").status().code(), Code::kNotFound);
  EXPECT_EQ(put("no/file", "x").code(), Code::kNotFound);
  EXPECT_EQ(storage().lock("no/file").status().code(), Code::kNotFound);
  EXPECT_FALSE(storage().exists("no"));
}

TEST_P(StorageTest, AFileIsNoFolder) {
  ASSERT_TRUE(put("file", "x").ok());
  EXPECT_EQ(storage().create_folder("file/below").code(), Code::kNotFound);
  EXPECT_EQ(storage().create("file/below").status().code(), Code::kNotFound);
  EXPECT_EQ(storage().open("file/below").status().code(), Code::kNotFound);
  EXPECT_EQ(storage().list("file").status().code(), Code::kNotFound);
}

TEST_P(StorageTest, AFolderIsNoFile) {
  ASSERT_TRUE(storage().create_folder("folder").ok());
  EXPECT_EQ(storage().open("folder").status().code(), Code::kNotFound);
  EXPECT_EQ(storage().read("folder").status().code(), Code::kNotFound);
  EXPECT_EQ(put("folder", "x").code(), Code::kAlreadyExists);
}

TEST_P(StorageTest, ReadAtGivesWhatThereIs) {
  ASSERT_TRUE(put("file", "0123456789").ok());
  const auto file = std::move(storage().open("file")).value();
  EXPECT_EQ(file->bytes().value_or(0), 10u);
  std::array<std::byte, 4> bytes{};
  EXPECT_EQ(file->read_at(2, bytes).value_or(99), 4u);
  EXPECT_EQ(as_text(bytes), "2345");
  EXPECT_EQ(file->read_at(8, bytes).value_or(99), 2u);
  EXPECT_EQ(as_text(bytes).substr(0, 2), "89");
  EXPECT_EQ(file->read_at(10, bytes).value_or(99), 0u);
  EXPECT_EQ(file->read_at(1000, bytes).value_or(99), 0u);
  EXPECT_EQ(file->read_at(3, {}).value_or(99), 0u);
}

TEST_P(StorageTest, AnOpenFileGrows) {
  const auto writer = create("live");
  const auto reader = std::move(storage().open("live")).value();
  EXPECT_EQ(reader->bytes().value_or(99), 0u);
  ASSERT_TRUE(append(*writer, "abc").ok());
  EXPECT_EQ(reader->bytes().value_or(99), 3u);
  std::array<std::byte, 8> bytes{};
  EXPECT_EQ(reader->read_at(0, bytes).value_or(99), 3u);
  EXPECT_EQ(as_text(bytes).substr(0, 3), "abc");
}

TEST_P(StorageTest, WhatIsNotThereIsNotFound) {
  EXPECT_EQ(storage().open("nothing").status().code(), Code::kNotFound);
  EXPECT_EQ(storage().read("nothing").status().code(), Code::kNotFound);
  EXPECT_EQ(storage().list("nothing").status().code(), Code::kNotFound);
  EXPECT_FALSE(storage().exists("nothing"));
  EXPECT_FALSE(storage().locked("nothing"));
}

TEST_P(StorageTest, ReadHasALimit) {
  ASSERT_TRUE(put("file", "12345").ok());
  EXPECT_EQ(storage().read("file", 5).value_or(""), "12345");
  EXPECT_EQ(storage().read("file", 4).status().code(), Code::kOutOfRange);
}

TEST_P(StorageTest, PutIfAbsentIsWonByTheFirst) {
  EXPECT_TRUE(put("file", "first").ok());
  EXPECT_EQ(put("file", "second").code(), Code::kAlreadyExists);
  EXPECT_EQ(content("file"), "first");
  EXPECT_EQ(storage().list("").value_or({}), std::vector<std::string>{"file"});
}

TEST_P(StorageTest, PutIfAbsentIsWonByOneOfManyAndNeverSeenInParts) {
  constexpr int kThreads = 8;
  const auto letter = [](int i) { return std::string(100'000, static_cast<char>('a' + i)); };
  std::array<Status, kThreads> results;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) threads.emplace_back([&, i] { results[i] = put("file", letter(i)); });
    std::string seen;
    while (seen.empty()) seen = storage().read("file").value_or("");
    EXPECT_EQ(seen, letter(seen.front() - 'a'));
  }
  EXPECT_EQ(std::count_if(results.begin(), results.end(), [](const Status& status) { return status.ok(); }), 1);
  for (int i = 0; i < kThreads; ++i) {
    if (results[i].ok()) {
      EXPECT_EQ(content("file"), letter(i));
    } else {
      EXPECT_EQ(results[i].code(), Code::kAlreadyExists);
    }
  }
}

TEST_P(StorageTest, ReplaceTakesThePlaceOfWhatIsThere) {
  ASSERT_TRUE(storage().replace("lease", as_bytes("one")).ok());
  EXPECT_EQ(content("lease"), "one");
  ASSERT_TRUE(storage().replace("lease", as_bytes("another")).ok());
  EXPECT_EQ(content("lease"), "another");
  EXPECT_EQ(storage().list("").value_or({}), std::vector<std::string>{"lease"});
  EXPECT_EQ(storage().replace("no/lease", as_bytes("x")).code(), Code::kNotFound);
  ASSERT_TRUE(storage().create_folder("folder").ok());
  EXPECT_FALSE(storage().replace("folder", as_bytes("x")).ok());
}

TEST_P(StorageTest, ReplacedFilesAreNeverSeenInParts) {
  const std::string a(100'000, 'a');
  const std::string b(100'000, 'b');
  ASSERT_TRUE(storage().replace("lease", as_bytes(a)).ok());
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (int i = 0; i < 50; ++i) EXPECT_TRUE(storage().replace("lease", as_bytes(i % 2 == 0 ? b : a)).ok());
    done = true;
  });
  while (!done) {
    const std::string seen = content("lease");
    EXPECT_TRUE(seen == a || seen == b) << seen.size() << " bytes";
  }
  writer.join();
}

TEST_P(StorageTest, InfoSaysWhatAFileIs) {
  ASSERT_TRUE(put("file", "12345").ok());
  ASSERT_TRUE(storage().create_folder("folder").ok());
  const auto file = storage().info("file");
  ASSERT_TRUE(file.ok()) << file.status().to_string();
  EXPECT_EQ(file->kind, FileInfo::Kind::kFile);
  EXPECT_EQ(file->bytes, 5u);
  EXPECT_GT(file->changed_unix_ns, 0);
  const auto folder = storage().info("folder");
  ASSERT_TRUE(folder.ok());
  EXPECT_EQ(folder->kind, FileInfo::Kind::kFolder);
  EXPECT_TRUE(storage().info("").ok());
  EXPECT_EQ(storage().info("nothing").status().code(), Code::kNotFound);
}

TEST_P(StorageTest, AReplacedFileHasAnotherIdentity) {
  ASSERT_TRUE(storage().replace("file", as_bytes("1")).ok());
  const auto before = storage().info("file");
  ASSERT_TRUE(storage().replace("file", as_bytes("1")).ok());
  const auto after = storage().info("file");
  ASSERT_TRUE(before.ok() && after.ok());
  EXPECT_NE(before->identity, after->identity);
  EXPECT_EQ(after->identity, storage().info("file").value_or({}).identity);
}

TEST_P(StorageTest, EntriesAreTheListWithWhatIsKnownOfEach) {
  ASSERT_TRUE(storage().create_folder("run/inside").ok());
  ASSERT_TRUE(put("run/b", "12").ok());
  ASSERT_TRUE(put("run/a", "1").ok());
  const auto entries = storage().entries("run");
  ASSERT_TRUE(entries.ok()) << entries.status().to_string();
  ASSERT_EQ(entries->size(), 3u);
  EXPECT_EQ((*entries)[0].name, "a");
  EXPECT_EQ((*entries)[0].info.bytes, 1u);
  EXPECT_EQ((*entries)[1].name, "b");
  EXPECT_EQ((*entries)[2].name, "inside");
  EXPECT_EQ((*entries)[2].info.kind, FileInfo::Kind::kFolder);
  EXPECT_EQ(storage().entries("nothing").status().code(), Code::kNotFound);
}

TEST_P(StorageTest, FoldersComeWithTheirParentsAndAreListedSorted) {
  EXPECT_TRUE(storage().create_folder("journal/rank-00001").ok());
  EXPECT_TRUE(storage().create_folder("journal/rank-00000").ok());
  EXPECT_TRUE(storage().create_folder("journal/rank-00000").ok());
  ASSERT_TRUE(put("journal/a-file", "x").ok());
  ASSERT_TRUE(put("journal/rank-00000/deep", "x").ok());
  EXPECT_EQ(storage().list("").value_or({}), std::vector<std::string>{"journal"});
  EXPECT_EQ(storage().list("journal").value_or({}), (std::vector<std::string>{"a-file", "rank-00000", "rank-00001"}));
  EXPECT_EQ(storage().list("journal/rank-00001").value_or({"?"}), std::vector<std::string>());
  EXPECT_TRUE(storage().exists("journal"));
  EXPECT_TRUE(storage().exists("journal/a-file"));
  EXPECT_TRUE(storage().exists(""));
}

TEST_P(StorageTest, PathsCannotLeaveTheRoot) {
  for (const std::string path : {"/etc/passwd", "..", "../x", "a/../../x", "a/..", ".", "a/./b", "a//b", "a/", "/"}) {
    SCOPED_TRACE(path);
    EXPECT_EQ(storage().create(path).status().code(), Code::kInvalidArgument);
    EXPECT_EQ(storage().open(path).status().code(), Code::kInvalidArgument);
    EXPECT_EQ(storage().read(path).status().code(), Code::kInvalidArgument);
    EXPECT_EQ(put(path, "x").code(), Code::kInvalidArgument);
    EXPECT_EQ(storage().create_folder(path).code(), Code::kInvalidArgument);
    EXPECT_EQ(storage().list(path).status().code(), Code::kInvalidArgument);
    EXPECT_EQ(storage().lock(path).status().code(), Code::kInvalidArgument);
    EXPECT_FALSE(storage().exists(path));
    EXPECT_FALSE(storage().locked(path));
  }
  EXPECT_EQ(storage().create("").status().code(), Code::kInvalidArgument);
  EXPECT_EQ(storage().create(std::string("a\0b", 3)).status().code(), Code::kInvalidArgument);
}

TEST_P(StorageTest, LocksExcludeAndAreFreedWhenTheyGo) {
  EXPECT_FALSE(storage().locked("lock"));
  Result<std::unique_ptr<Lock>> lock = storage().lock("lock");
  ASSERT_TRUE(lock.ok()) << lock.status().to_string();
  EXPECT_TRUE(storage().locked("lock"));
  EXPECT_TRUE(storage().locked("lock"));

  const Status second = storage().lock("lock").status();
  EXPECT_EQ(second.code(), Code::kAlreadyExists);
  EXPECT_NE(second.message().find(std::to_string(::getpid())), std::string::npos) << second.message();
  EXPECT_TRUE(storage().locked("lock"));

  lock->reset();
  EXPECT_FALSE(storage().locked("lock"));
  EXPECT_TRUE(storage().lock("lock").ok());
}

TEST_P(StorageTest, LookingAtALockedFileDoesNotFreeIt) {
  const auto lock = std::move(storage().lock("lock")).value();
  EXPECT_TRUE(storage().read("lock").ok());
  EXPECT_TRUE(storage().locked("lock"));
}

TEST_P(StorageTest, MessagesNameThePath) {
  const Status status = storage().open("where/is/it").status();
  EXPECT_NE(status.message().find("where/is/it"), std::string::npos) << status.message();
}

INSTANTIATE_TEST_SUITE_P(
    All, StorageTest,
    testing::Values(Kind{"Local", [] { return std::make_unique<LocalSubject>(Beneath::Way::kAtOnce); }},
                    Kind{"LocalByParts", [] { return std::make_unique<LocalSubject>(Beneath::Way::kByParts); }},
                    Kind{"Memory", [] { return std::make_unique<MemorySubject>(); }},
                    Kind{"FaultyWithoutFaults", [] { return std::make_unique<FaultySubject>(); }}),
    [](const testing::TestParamInfo<Kind>& kind) { return std::string(kind.param.name); });

}  // namespace
}  // namespace trainwarden::storage
