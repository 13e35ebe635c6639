// A bucket as a storage, against a server of its own (moto's). Needs TRAINWARDEN_MOTO_PYTHON, a Python that has it.
#include "store/s3/s3_storage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <thread>

#include "core/base/await_testing.h"
#include "core/base/folder_testing.h"
#include "core/base/text.h"
#include "core/exchange/server_testing.h"
#include "store/s3/appended_file.h"
#include "store/s3/block_cache.h"
#include "store/s3/bucket_mirror.h"
#include "store/s3/listing_cache.h"
#include "store/storage/forwarding_storage.h"
#include "store/storage/memory_storage.h"

namespace trainwarden::storage {
namespace {

constexpr const char* kNowhere = "http://127.0.0.1:1";

class S3StorageTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const char* const python = std::getenv("TRAINWARDEN_MOTO_PYTHON");
    if (python == nullptr) return;
    server_ = std::make_unique<exchange::TestServer>(
        std::vector<std::string>{python, TW_SOURCE_DIR "/tests/servers/s3_server.py"});
  }
  static void TearDownTestSuite() { server_.reset(); }

  void SetUp() override {
    if (!server_) GTEST_SKIP() << "TRAINWARDEN_MOTO_PYTHON names no Python with moto";
    storage_ = reach("bucket", std::string("runs/") + testing::UnitTest::GetInstance()->current_test_info()->name());
  }

  // The server prints its port, and the key that requests are to be signed with.
  static std::vector<std::string> server_words() { return split_list(server_->port(), ' '); }
  static std::shared_ptr<S3Client> client_to(const std::string& bucket, const std::string& endpoint,
                                             bool path_style = true) {
    const Environment environment = [words = server_words()](const char* name) -> const char* {
      return std::string_view(name) == "AWS_ACCESS_KEY_ID"       ? words[1].c_str()
             : std::string_view(name) == "AWS_SECRET_ACCESS_KEY" ? words[2].c_str()
                                                                 : nullptr;
    };
    S3Settings settings{.region = "us-east-1",
                        .endpoint = endpoint,
                        .path_style = path_style,
                        .is_encrypted = false,
                        .ca_file = "",
                        .max_attempts = 2};
    return std::make_shared<S3Client>(bucket, settings, std::make_shared<CredentialChain>(environment, system_clock()),
                                      system_clock());
  }
  static std::string endpoint() { return "http://127.0.0.1:" + server_words()[0]; }
  std::shared_ptr<Storage> reach(const std::string& bucket, const std::string& prefix) {
    client_ = client_to(bucket, endpoint());
    return create_s3_storage(client_, prefix);
  }

  std::shared_ptr<S3Client> client_to_bucket() const { return client_; }
  Storage& storage() { return *storage_; }
  S3Client& client() { return *client_; }
  Status put(const std::string& path, std::string_view content) {
    return storage().put_if_absent(path, as_bytes(content));
  }
  std::string content(const std::string& path) {
    const auto read = storage().read(path);
    return read.ok() ? *read : read.status().to_string();
  }
  static Status append(WritableFile& file, std::string_view text) {
    const ByteSpan part = as_bytes(text);
    return file.append({&part, 1});
  }

 private:
  inline static std::unique_ptr<exchange::TestServer> server_;
  std::shared_ptr<S3Client> client_;
  std::shared_ptr<Storage> storage_;
};

TEST_F(S3StorageTest, AFileThatGrowsIsReadWhileItDoes) {
  auto file = storage().create("journal/seg");
  ASSERT_TRUE(file.ok()) << file.status().to_string();
  const auto reader = storage().open("journal/seg");
  ASSERT_TRUE(reader.ok()) << reader.status().to_string();
  EXPECT_EQ((*reader)->bytes().value_or(99), 0u);
  ASSERT_TRUE(append(**file, "one").ok());
  ASSERT_TRUE(append(**file, "").ok());
  ASSERT_TRUE(append(**file, " two").ok());
  EXPECT_EQ((*reader)->bytes().value_or(99), 7u);
  std::array<std::byte, 20> bytes{};
  EXPECT_EQ((*reader)->read_at(1, bytes).value_or(99), 6u);
  EXPECT_EQ(as_text(bytes).substr(0, 6), "ne two");
  EXPECT_EQ(content("journal/seg"), "one two");
  EXPECT_EQ(storage().list("journal").value_or({}), std::vector<std::string>{"seg"});
  EXPECT_EQ(storage().info("journal/seg").value_or({}).bytes, 7u);
  EXPECT_EQ(storage().create("journal/seg").status().code(), Code::kAlreadyExists);
  EXPECT_TRUE((*file)->close().ok());
  EXPECT_EQ(append(**file, "x").code(), Code::kFailedPrecondition);
  // The whole file under its own name stands for its pieces.
  ASSERT_TRUE(storage().replace("journal/seg", as_bytes("one two three")).ok());
  EXPECT_EQ(content("journal/seg"), "one two three");
  EXPECT_EQ(storage().entries("journal").value_or({}).at(0).info.bytes, 13u);
  EXPECT_EQ(storage().create("journal/seg").status().code(), Code::kAlreadyExists);
}

TEST_F(S3StorageTest, PiecesThatWereRemovedAreReadFromTheWholeFile) {
  auto file = *storage().create("seg");
  ASSERT_TRUE(append(*file, "one two").ok());
  const auto reader = *storage().open("seg");
  ASSERT_TRUE(storage().replace("seg", as_bytes("one two")).ok());
  for (int number = 0; number < 2; ++number) {
    const std::string key = "runs/PiecesThatWereRemovedAreReadFromTheWholeFile/" + piece_name("seg", number);
    ASSERT_TRUE(client().remove(key).ok());
  }
  std::array<std::byte, 7> bytes{};
  EXPECT_EQ(reader->read_at(0, bytes).value_or(99), 7u);
  EXPECT_EQ(as_text(bytes), "one two");
}

TEST_F(S3StorageTest, PutIfAbsentIsWonByOneOfMany) {
  constexpr int kThreads = 8;
  std::array<Status, kThreads> results;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] { results[i] = put("file", std::string(1000, static_cast<char>('a' + i))); });
    }
  }
  EXPECT_EQ(std::count_if(results.begin(), results.end(), [](const Status& status) { return status.ok(); }), 1);
  for (int i = 0; i < kThreads; ++i) {
    if (results[i].ok()) {
      EXPECT_EQ(content("file"), std::string(1000, static_cast<char>('a' + i)));
    } else {
      EXPECT_EQ(results[i].code(), Code::kAlreadyExists) << results[i].to_string();
    }
  }
}

TEST_F(S3StorageTest, FoldersAreWhatKeysHaveInCommon) {
  EXPECT_EQ(storage().list("").status().code(), Code::kNotFound);
  ASSERT_TRUE(put("run/a file", "1").ok());
  ASSERT_TRUE(put("run/b+c&d=%", "12").ok());
  ASSERT_TRUE(put("run/deep/er", "x").ok());
  ASSERT_TRUE(storage().create_folder("run/empty").ok());
  const auto entries = storage().entries("run");
  ASSERT_TRUE(entries.ok()) << entries.status().to_string();
  ASSERT_EQ(entries->size(), 4u);
  EXPECT_EQ((*entries)[0].name, "a file");
  EXPECT_EQ((*entries)[1].name, "b+c&d=%");
  EXPECT_EQ((*entries)[1].info.bytes, 2u);
  EXPECT_EQ((*entries)[2].info.kind, FileInfo::Kind::kFolder);
  EXPECT_EQ(content("run/b+c&d=%"), "12");
  EXPECT_EQ(storage().list("run/empty").value_or({"?"}), std::vector<std::string>());
  EXPECT_EQ(storage().list("").value_or({}), std::vector<std::string>{"run"});
  EXPECT_EQ(storage().info("run").value_or({}).kind, FileInfo::Kind::kFolder);
  EXPECT_EQ(storage().info("ru").status().code(), Code::kNotFound);
  EXPECT_TRUE(storage().exists("run/deep/er"));
  EXPECT_FALSE(storage().exists("run/dee"));
}

TEST_F(S3StorageTest, ReadsArePartsOfTheObject) {
  std::string large(3 * kBlockBytes + 17, '\0');
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * 7 + i / 4096);
  ASSERT_TRUE(storage().replace("large", as_bytes(large)).ok());
  const auto file = *storage().open("large");
  const auto read = [&](std::uint64_t offset, std::size_t bytes) {
    std::string text(bytes, '\0');
    text.resize(file->read_at(offset, std::as_writable_bytes(std::span(text))).value_or(99));
    return text;
  };
  EXPECT_EQ(read(0, 10), large.substr(0, 10));
  EXPECT_EQ(read(kBlockBytes - 5, 10), large.substr(kBlockBytes - 5, 10));
  EXPECT_EQ(read(3 * kBlockBytes + 10, 100), large.substr(3 * kBlockBytes + 10));
  EXPECT_EQ(read(5, 2 * kBlockBytes), large.substr(5, 2 * kBlockBytes));
  EXPECT_EQ(read(large.size(), 5), "");
  EXPECT_EQ(read(large.size() + 1000, 5), "");
  const std::uint64_t before = client().use().requests;
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(read(100 * i, 64), large.substr(100 * i, 64));
  EXPECT_EQ(client().use().requests, before);
  EXPECT_EQ(storage().read("large", 100).status().code(), Code::kOutOfRange);
}

TEST_F(S3StorageTest, OneListingAnswersAllThatIsAskedOfAFolder) {
  FakeClock clock;
  const std::string prefix = "runs/OneListingAnswersAllThatIsAskedOfAFolder";
  const std::shared_ptr<Storage> timed = create_s3_storage(client_to_bucket(), prefix, clock);
  ASSERT_TRUE(put("run.json", "{}").ok());
  ASSERT_TRUE(put("journal/a/seg", "one").ok());
  ASSERT_TRUE(put("journal/b/seg", "two").ok());
  const std::uint64_t before = client().use().requests;
  EXPECT_TRUE(timed->exists("run.json"));
  EXPECT_FALSE(timed->exists("journal/c"));
  EXPECT_FALSE(timed->exists("blackbox/x/y"));
  EXPECT_EQ(timed->list("journal").value_or({}), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(timed->info("journal/a/seg").value_or({}).bytes, 3u);
  EXPECT_EQ(timed->entries("journal/b").value_or({}).size(), 1u);
  EXPECT_EQ(client().use().requests, before + 1);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(timed->read("journal/a/seg").value_or("none"), "one");
  EXPECT_EQ(client().use().requests, before + 2);
  // What another process writes is seen a second later.
  ASSERT_TRUE(client().put(prefix + "/new", {}, PutCondition::kAlways).ok());
  clock.advance_ns(kListingLifeNs - 1);
  EXPECT_FALSE(timed->exists("new"));
  clock.advance_ns(1);
  EXPECT_TRUE(timed->exists("new"));
}

TEST_F(S3StorageTest, AFolderTooLargeForOneListingIsAskedPieceByPiece) {
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = thread; i < 1001; i += 4) {
        const std::string key = "runs/AFolderTooLargeForOneListingIsAskedPieceByPiece/f/" + std::to_string(10'000 + i);
        EXPECT_TRUE(client().put(key, as_bytes("x"), PutCondition::kAlways).ok());
      }
    });
  }
  threads.clear();
  EXPECT_EQ(storage().list("f").value_or({}).size(), 1001u);
  EXPECT_TRUE(storage().exists("f/10000"));
  EXPECT_FALSE(storage().exists("f/9"));
  EXPECT_TRUE(storage().exists("f"));
  EXPECT_EQ(content("f/11000"), "x");
  EXPECT_EQ(content("f/9").substr(0, 9), "not found");
}

TEST_F(S3StorageTest, AnObjectThatWasReplacedIsReadAnew) {
  ASSERT_TRUE(storage().replace("file", as_bytes("first")).ok());
  const auto file = *storage().open("file");
  ASSERT_TRUE(storage().replace("file", as_bytes("other")).ok());
  std::array<std::byte, 5> bytes{};
  EXPECT_EQ(file->read_at(0, bytes).value_or(99), 5u);
  EXPECT_EQ(as_text(bytes), "other");  // and never a mixture
}

TEST_F(S3StorageTest, ErrorsSayWhereAndWhy) {
  EXPECT_EQ(storage().open("nothing").status().code(), Code::kNotFound);
  EXPECT_EQ(storage().read("nothing").status().code(), Code::kNotFound);
  EXPECT_EQ(storage().lock("lock").status().code(), Code::kUnimplemented);
  EXPECT_EQ(storage().open("../x").status().code(), Code::kInvalidArgument);
  const Status none = reach("elsewhere", "x")->list("").status();
  EXPECT_EQ(none.code(), Code::kFailedPrecondition) << none.to_string();
  EXPECT_NE(none.message().find("there is no such bucket"), std::string::npos) << none.message();
  const Status down = create_s3_storage(client_to("bucket", kNowhere), "x")->list("").status();
  EXPECT_EQ(down.code(), Code::kUnavailable) << down.to_string();
  EXPECT_NE(down.message().find("http://127.0.0.1:1"), std::string::npos) << down.message();
}

class BucketMirrorTest : public S3StorageTest {
 protected:
  void SetUp() override {
    S3StorageTest::SetUp();
    if (IsSkipped()) return;
    prefix_ = std::string("runs/") + testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = create_memory_storage();
    folder_->set_content("run.json", "{}");
    folder_->set_content("journal/rank-00000/seg-00000000.tw", "first");
    folder_->set_content("journal/rank-00000/writer.lock", "1");
  }
  BucketMirror begun() {
    BucketMirror mirror(folder_, client_to_bucket(), prefix_);
    EXPECT_TRUE(mirror.begin().ok());
    return mirror;
  }
  // Of a storage that has asked nothing before: what a mirror has sent is seen at once.
  std::string content(const std::string& path) {
    const auto read = create_s3_storage(client_to_bucket(), prefix_)->read(path);
    return read.ok() ? *read : read.status().to_string();
  }
  std::vector<std::string> keys() {
    std::vector<std::string> keys;
    const auto page = client().list(prefix_ + "/", "", "", "");
    if (page.ok()) {
      for (const ListedObject& object : page->objects) keys.push_back(object.key.substr(prefix_.size() + 1));
    }
    return keys;
  }

  std::shared_ptr<MemoryStorage> folder_;
  std::string prefix_;
};

// A folder with a file that its disk does not give.
class Unreadable : public ForwardingStorage {
 public:
  Unreadable(Storage& base, std::string path) : ForwardingStorage(base), path_(std::move(path)) {}
  Result<std::unique_ptr<ReadableFile>> open(const std::string& path) const override {
    if (path == path_) return Status(Code::kInternal, "a bad disk");
    return ForwardingStorage::open(path);
  }

 private:
  const std::string path_;
};

constexpr const char* kFirst = "journal/rank-00000/seg-00000000.tw";

TEST_F(BucketMirrorTest, WhatGrowsIsSentInPiecesAndThenWhole) {
  BucketMirror mirror = begun();
  EXPECT_TRUE(mirror.look(false).problem.ok());
  EXPECT_EQ(content(kFirst), "first");
  EXPECT_FALSE(storage().exists("journal/rank-00000/writer.lock"));
  folder_->set_content(kFirst, "first and more");
  const MirrorRound round = mirror.look(false);
  EXPECT_EQ(round.bytes, 9u);
  EXPECT_EQ(content(kFirst), "first and more");
  EXPECT_EQ(mirror.look(false).bytes, 0u);
  EXPECT_EQ(keys().size(), 4u);  // run.json, and three pieces
  // The next segment says that this one is whole.
  folder_->set_content("journal/rank-00000/seg-00000001.tw", "second");
  mirror.look(false);
  EXPECT_EQ(content(kFirst), "first and more");
  EXPECT_EQ(content("journal/rank-00000/seg-00000001.tw"), "second");
  EXPECT_TRUE(mirror.look(true).problem.ok());
  EXPECT_EQ(keys(), (std::vector<std::string>{kFirst, "journal/rank-00000/seg-00000001.tw", "run.json"}));
  EXPECT_EQ(mirror.look(true).bytes, 0u);
}

TEST_F(BucketMirrorTest, WhoReadsAFileThatBecomesOneObjectSeesAllOfIt) {
  BucketMirror mirror = begun();
  mirror.look(false);
  const auto reader = create_s3_storage(client_to_bucket(), prefix_)->open(kFirst);
  ASSERT_TRUE(reader.ok()) << reader.status().to_string();
  EXPECT_EQ((*reader)->bytes().value_or(99), 5u);
  folder_->set_content(kFirst, "first and more");
  EXPECT_TRUE(mirror.look(true).problem.ok());  // whole, and no piece had it
  EXPECT_EQ((*reader)->bytes().value_or(99), 14u);
  std::array<std::byte, 20> bytes{};
  EXPECT_EQ((*reader)->read_at(0, bytes).value_or(99), 14u);
  EXPECT_EQ(as_text(bytes).substr(0, 14), "first and more");
}

TEST_F(BucketMirrorTest, AnotherOneGoesOnWhereTheFirstHasEnded) {
  begun().look(false);
  folder_->set_content(kFirst, "first and more");
  BucketMirror second = begun();
  EXPECT_EQ(second.look(false).bytes, 9u);  // neither run.json nor what was there
  EXPECT_EQ(content(kFirst), "first and more");
  second.look(true);
  BucketMirror third = begun();
  EXPECT_EQ(third.look(true).bytes, 0u);
  EXPECT_EQ(keys().size(), 2u);
}

// As where lists lag: what was sent last is not in the one that it begins with.
TEST_F(BucketMirrorTest, WhatAnOldListDoesNotShowIsFoundByItsName) {
  BucketMirror late = begun();
  BucketMirror first = begun();
  first.look(false);
  folder_->set_content(kFirst, "first and more");
  first.look(false);
  folder_->set_content(kFirst, "first and more and most");
  EXPECT_EQ(late.look(false).bytes, 2u + 9u);  // run.json, and what is new
  EXPECT_EQ(content(kFirst), "first and more and most");
  EXPECT_TRUE(late.look(true).problem.ok());
  EXPECT_EQ(keys(), (std::vector<std::string>{kFirst, "run.json"}));
}

TEST_F(BucketMirrorTest, AFileThatIsReplacedIsSentAgain) {
  BucketMirror mirror = begun();
  mirror.look(false);
  const std::string lease = "journal/rank-00000/writer.lease";
  ASSERT_TRUE(folder_->replace(lease, as_bytes("one")).ok());
  EXPECT_EQ(mirror.look(false).bytes, 3u);
  ASSERT_TRUE(folder_->replace(lease, as_bytes("two")).ok());
  EXPECT_EQ(mirror.look(false).bytes, 3u);
  EXPECT_EQ(content(lease), "two");
  EXPECT_EQ(begun().look(false).bytes, 0u);
}

TEST_F(BucketMirrorTest, ThatAWriterHasEndedComesAfterAllItHasWritten) {
  const std::string lease = "journal/rank-00000/writer.lease", alive = R"({"next_unix_ns": 5})",
                    ended = R"({"next_unix_ns": 0})";
  folder_->set_content(lease, alive);
  BucketMirror mirror = begun();
  ASSERT_TRUE(mirror.look(false).problem.ok());
  EXPECT_EQ(content(lease), alive);
  folder_->set_content(lease, ended);
  folder_->set_content("journal/rank-00000/seg-00000001.tw", "second");
  // The rest cannot be read: no more is the end sent.
  const auto broken = std::make_shared<Unreadable>(*folder_, "journal/rank-00000/seg-00000001.tw");
  BucketMirror second(broken, client_to_bucket(), prefix_);
  ASSERT_TRUE(second.begin().ok());
  const MirrorRound round = second.look(true);
  EXPECT_EQ(round.problem.code(), Code::kInternal);
  EXPECT_EQ(round.files_behind, 2u);
  EXPECT_EQ(content(lease), alive);
  EXPECT_TRUE(mirror.look(true).problem.ok());
  EXPECT_EQ(content("journal/rank-00000/seg-00000001.tw"), "second");
  EXPECT_EQ(content(lease), ended);
}

TEST_F(BucketMirrorTest, ABucketThatIsAwayIsNotAskedForEachFile) {
  const auto away = client_to("bucket", kNowhere);
  BucketMirror mirror(folder_, away, prefix_);
  mirror.look(false);
  EXPECT_EQ(away->use().requests, 2u);  // the two attempts of the first file
}

TEST_F(BucketMirrorTest, ASegmentThatWasTakenForWholeStaysOneObject) {
  begun().look(true);
  folder_->set_content(kFirst, "first and more");
  BucketMirror mirror = begun();
  mirror.look(false);
  EXPECT_EQ(content(kFirst), "first and more");
  EXPECT_EQ(keys().size(), 2u);
}

TEST_F(BucketMirrorTest, RequestsAreTakenOnce) {
  BucketMirror mirror = begun();
  ASSERT_TRUE(put("control/stop-one.json", "{}").ok());
  ASSERT_TRUE(put("control/odd.json", "{}").ok());
  ASSERT_TRUE(put("control/stop-two.txt", "{}").ok());
  EXPECT_EQ(mirror.take_requests().value_or(9), 1u);
  EXPECT_EQ(folder_->content("control/stop-one.json"), "{}");
  EXPECT_FALSE(folder_->exists("control/odd.json"));
  EXPECT_EQ(mirror.take_requests().value_or(9), 0u);
  ASSERT_TRUE(put("control/stop-large.json", std::string(100'000, ' ')).ok());
  EXPECT_EQ(mirror.take_requests().value_or(9), 0u);
}

TEST_F(BucketMirrorTest, WhatIsLargeTravelsInParts) {
  std::string large((std::size_t{33} << 20) + 7, 'x');
  for (std::size_t i = 0; i < large.size(); i += 1000) large[i] = static_cast<char>('a' + i / 1000 % 26);
  folder_->set_content("checkpoints/step-000001-rank-00000.pt", large);
  EXPECT_TRUE(begun().look(true).problem.ok());
  EXPECT_EQ(storage().read("checkpoints/step-000001-rank-00000.pt", 64u << 20).value_or(""), large);
}

TEST_F(BucketMirrorTest, WhatCouldNotBeSentIsCounted) {
  BucketMirror mirror(folder_, client_to("bucket", kNowhere), prefix_);
  EXPECT_EQ(mirror.begin().code(), Code::kUnavailable);
  const MirrorRound round = mirror.look(false);
  EXPECT_EQ(round.problem.code(), Code::kUnavailable);
  EXPECT_EQ(round.files_behind, 2u);
  EXPECT_EQ(round.bytes_behind, 7u);
}

// libcurl takes what ends with .localhost for this machine.
TEST_F(S3StorageTest, ABucketMayBeInTheNameOfTheHost) {
  ASSERT_TRUE(put("a+b c", "one").ok());
  const auto client = client_to("bucket", "http://localhost:" + server_words()[0], false);
  const auto other = create_s3_storage(client, "runs/ABucketMayBeInTheNameOfTheHost");
  EXPECT_EQ(other->read("a+b c").value_or(""), "one");
  EXPECT_EQ(other->list("").value_or({}), std::vector<std::string>{"a+b c"});
}

TEST_F(S3StorageTest, LeavingIsPrompt) {
  std::stop_source stop;
  S3Settings settings{.region = "us-east-1",
                      .endpoint = kNowhere,
                      .path_style = true,
                      .is_encrypted = false,
                      .ca_file = "",
                      .max_attempts = 100};
  const Environment environment = [](const char*) { return "key"; };
  S3Client away("bucket", settings, std::make_shared<CredentialChain>(environment, system_clock()), system_clock(),
                stop.get_token());
  std::jthread later([&] {
    await([&] { return away.use().requests >= 3; });
    stop.request_stop();
  });
  EXPECT_EQ(away.head("x").status().code(), Code::kCancelled);
  EXPECT_LT(away.use().requests, 100u) << "its attempts were not over";
}

}  // namespace
}  // namespace trainwarden::storage
