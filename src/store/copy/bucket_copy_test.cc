// Copies to buckets and from them: against moto's server, also through a network that fails.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "core/base/folder_testing.h"
#include "core/base/text.h"
#include "core/exchange/server_testing.h"
#include "store/copy/bucket_end.h"
#include "store/copy/copy_tree.h"
#include "store/s3/appended_file.h"
#include "store/s3/content_tag.h"
#include "store/s3/s3_storage.h"

namespace trainwarden::copy {
namespace {

namespace fs = std::filesystem;
using storage::PutCondition;
using storage::S3Client;

std::string text_at(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

void put_at(const fs::path& file, const std::string& content) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << content;
}

std::string varied(std::size_t bytes) {
  std::string large(bytes, '\0');
  for (std::size_t i = 0; i < large.size(); i += 100) large[i] = static_cast<char>(i * 7 + i / 4096);
  return large;
}

constexpr std::size_t kLarge = (std::size_t{33} << 20) + 11;

class BucketCopyTest : public testing::Test {
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
    prefix_ = testing::UnitTest::GetInstance()->current_test_info()->name();
    client_ = client_to(server_words()[0]);
  }

  static std::vector<std::string> server_words() { return split_list(server_->port(), ' '); }
  static std::shared_ptr<S3Client> client_to(const std::string& port, int max_attempts = 2) {
    const Environment environment = [words = server_words()](const char* name) -> const char* {
      return std::string_view(name) == "AWS_ACCESS_KEY_ID"       ? words[1].c_str()
             : std::string_view(name) == "AWS_SECRET_ACCESS_KEY" ? words[2].c_str()
                                                                 : nullptr;
    };
    storage::S3Settings settings{.region = "us-east-1",
                                 .endpoint = "http://127.0.0.1:" + port,
                                 .path_style = true,
                                 .is_encrypted = false,
                                 .ca_file = "",
                                 .max_attempts = max_attempts};
    return std::make_shared<S3Client>(
        "bucket", settings, std::make_shared<storage::CredentialChain>(environment, system_clock()), system_clock());
  }

  CopySummary run(const std::shared_ptr<CopyEnd>& from, const std::shared_ptr<CopyEnd>& to, CopyOptions options = {}) {
    CopyTree tree(from, to, options);
    auto summary = tree.run({});
    EXPECT_TRUE(summary.ok()) << summary.status().to_string();
    if (!summary.ok()) return {};
    for (const CopyProblem& problem : summary->problems) problems_ += problem.path + problem.status.to_string();
    problems_ += summary->ended_by.to_string();
    return *std::move(summary);
  }
  std::shared_ptr<CopyEnd> here(const std::string& name) const {
    return create_local_end(folder_.path() / name, EndKind::kFolder);
  }
  std::shared_ptr<CopyEnd> there(const std::string& more = "") const {
    return create_bucket_end(client_, prefix_ + more, EndKind::kFolder);
  }
  std::map<std::string, std::string> files_in(const std::string& name) const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path() / name)) {
      if (entry.is_regular_file())
        files[entry.path().lexically_relative(folder_.path() / name).string()] = text_at(entry.path());
    }
    return files;
  }
  std::vector<std::string> keys(const std::string& more = "") {
    std::vector<std::string> keys;
    const auto page = client_->list(prefix_ + more + "/", "", "", "");
    if (page.ok()) {
      for (const auto& object : page->objects) keys.push_back(object.key.substr(prefix_.size() + more.size() + 1));
    }
    return keys;
  }
  std::size_t unfinished() const { return client_->unfinished_uploads(prefix_ + "/").value_or({}).size(); }
  void put(const std::string& path, const std::string& content) {
    ASSERT_TRUE(client_->put(prefix_ + "/" + path, as_bytes(content), PutCondition::kAlways).ok());
  }

  inline static std::unique_ptr<exchange::TestServer> server_;
  TestFolder folder_;
  std::string prefix_, problems_;
  std::shared_ptr<S3Client> client_;
};

TEST_F(BucketCopyTest, ThereAndBack) {
  put_at(folder_.path() / "a/run.json", "{}");
  put_at(folder_.path() / "a/deep/er/large", varied(kLarge));
  put_at(folder_.path() / "a/empty", "");
  put_at(folder_.path() / "a/odd a+b&c=d%20~ü'(x)*!", "odd");
  CopySummary summary = run(here("a"), there());
  EXPECT_TRUE(summary.is_complete()) << problems_;
  EXPECT_EQ(summary.files_copied, 4u);
  EXPECT_EQ(summary.files_checked, 4u);
  EXPECT_EQ(keys().size(), 4u);
  summary = run(there(), here("b"));
  EXPECT_TRUE(summary.is_complete()) << problems_;
  EXPECT_EQ(summary.files_checked, 4u);
  EXPECT_EQ(files_in("b"), files_in("a"));
  for (const bool checks : {false, true}) {
    EXPECT_EQ(run(here("a"), there(), {.checks = checks}).files_same, 4u);
    EXPECT_EQ(run(there(), here("b"), {.checks = checks}).files_same, 4u);
  }
  EXPECT_EQ(unfinished(), 0u);
}

TEST_F(BucketCopyTest, WhatIsThereAndNewIsToldByItsContent) {
  put_at(folder_.path() / "a/file", "one");
  run(here("a"), there());
  const std::uint64_t before = client_->use().bytes_sent;
  EXPECT_EQ(run(here("a"), there()).files_same, 1u);  // in the second in which it was sent
  EXPECT_EQ(client_->use().bytes_sent, before);
  put_at(folder_.path() / "a/file", "two");
  EXPECT_EQ(run(here("a"), there()).files_copied, 1u);
  EXPECT_EQ(client_->get_whole(prefix_ + "/file", 10).value_or(""), "two");
}

TEST_F(BucketCopyTest, PiecesBecomeOneFile) {
  put("journal/seg.tw.~0000000000", "");
  put("journal/seg.tw.~0000000001", "one ");
  put("journal/seg.tw.~0000000002", "two");
  put("journal/seg.tw.~0000000004", "lost");
  put("whole", "whole");
  put("whole.~0000000000", "");
  put("whole.~0000000001", "old");
  CopySummary summary = run(there(), here("b"));
  EXPECT_TRUE(summary.is_complete()) << problems_;
  EXPECT_EQ(summary.files_checked, 2u);
  EXPECT_EQ(files_in("b"), (std::map<std::string, std::string>{{"journal/seg.tw", "one two"}, {"whole", "whole"}}));
  EXPECT_TRUE(run(there(), there("-copy")).is_complete()) << problems_;
  EXPECT_EQ(keys("-copy"), (std::vector<std::string>{"journal/seg.tw", "whole"}));
  // Sent back, the file stands for its pieces, which go.
  put_at(folder_.path() / "b/journal/seg.tw", "one two three");
  EXPECT_TRUE(run(here("b"), there()).is_complete()) << problems_;
  EXPECT_EQ(client_->get_whole(prefix_ + "/journal/seg.tw", 100).value_or(""), "one two three");
  EXPECT_EQ(client_->head(prefix_ + "/journal/seg.tw.~0000000001").status().code(), Code::kNotFound);
}

TEST_F(BucketCopyTest, AnUploadThatWasBegunIsGoneOnWith) {
  const std::string large = varied(kLarge);
  put_at(folder_.path() / "a/large", large);
  const std::string key = prefix_ + "/large";
  const auto old = client_->begin_upload(key);
  ASSERT_TRUE(old.ok()) << old.status().to_string();
  ASSERT_TRUE(client_->put_part(key, *old, 1, as_bytes(large).subspan(0, storage::kPartBytes)).ok());
  ASSERT_TRUE(client_->put_part(key, *old, 2, as_bytes(std::string(storage::kPartBytes, 'x'))).ok());  // another one
  const std::uint64_t before = client_->use().bytes_sent;
  const CopySummary summary = run(here("a"), there());
  EXPECT_TRUE(summary.is_complete()) << problems_;
  EXPECT_EQ(summary.bytes_resumed, storage::kPartBytes);
  EXPECT_LT(client_->use().bytes_sent - before, kLarge - storage::kPartBytes + 10'000);
  EXPECT_EQ(unfinished(), 0u);
  EXPECT_TRUE(run(there(), here("b")).is_complete());
  EXPECT_EQ(text_at(folder_.path() / "b/large"), large);
}

TEST_F(BucketCopyTest, AnUploadThatDoesNotFitIsGivenUp) {
  put_at(folder_.path() / "a/large", varied(kLarge));
  const std::string key = prefix_ + "/large";
  const auto old = client_->begin_upload(key);
  ASSERT_TRUE(client_->put_part(key, *old, 1, as_bytes(std::string(std::size_t{6} << 20, 'x'))).ok());
  ASSERT_TRUE(client_->begin_upload(prefix_ + "/other").ok());
  const CopySummary summary = run(here("a"), there());
  EXPECT_TRUE(summary.is_complete()) << problems_;
  EXPECT_EQ(summary.bytes_resumed, 0u);
  EXPECT_EQ(summary.unfinished_ended, 1u);
  EXPECT_EQ(unfinished(), 1u);  // of a file that is none of this copy's
  EXPECT_EQ(run(here("a"), there(), {.removes = true}).unfinished_ended, 1u);
  EXPECT_EQ(unfinished(), 0u);
}

TEST_F(BucketCopyTest, WhatHasArrivedIsGoneOnWithByRange) {
  put("large", varied(kLarge));
  // What a process that was killed has left: the beginning of the file under its other name.
  const auto source = there();
  const CopyFile file = source->list()->files.at(0);
  {
    const auto end = here("b");
    auto receiver = *end->receive(file, source->describe("large"), nullptr);
    const std::string first = varied(kLarge).substr(0, receiver->chunk_bytes());
    ASSERT_TRUE(receiver->put(0, as_bytes(first)).ok());
  }
  const std::uint64_t before = client_->use().bytes_received;
  const CopySummary summary = run(there(), here("b"));
  EXPECT_TRUE(summary.is_complete()) << problems_;
  EXPECT_EQ(summary.bytes_resumed, std::uint64_t{8} << 20);
  EXPECT_LT(client_->use().bytes_received - before, kLarge - (std::size_t{8} << 20) + 10'000);
  EXPECT_EQ(text_at(folder_.path() / "b/large"), varied(kLarge));
}

TEST_F(BucketCopyTest, WhatHasArrivedWrongIsNoticed) {
  put("large", varied(kLarge));
  const auto source = there();
  const CopyFile file = source->list()->files.at(0);
  {
    const auto end = here("b");
    auto receiver = *end->receive(file, source->describe("large"), nullptr);
    ASSERT_TRUE(receiver->put(0, as_bytes(std::string(receiver->chunk_bytes(), 'x'))).ok());
  }
  const CopySummary summary = run(there(), here("b"));
  EXPECT_TRUE(summary.is_complete()) << problems_;  // it was copied anew
  EXPECT_EQ(text_at(folder_.path() / "b/large"), varied(kLarge));
}

TEST_F(BucketCopyTest, KeysThatAreNoPathsAreTold) {
  put("fine", "1");
  put("../../evil", "2");
  put("a//b", "3");
  put("folder/", "");
  const CopySummary summary = run(there(), here("b"));
  EXPECT_EQ(files_in("b"), (std::map<std::string, std::string>{{"fine", "1"}}));
  EXPECT_EQ(summary.left_out.size(), 2u);
  EXPECT_FALSE(summary.is_complete());
  EXPECT_FALSE(fs::exists(folder_.path().parent_path() / "evil"));
}

TEST_F(BucketCopyTest, WithinTheServerNothingPassesHere) {
  put("large", varied(kLarge));
  const std::uint64_t before = client_->use().bytes_received;
  EXPECT_TRUE(run(there(), there("-copy")).is_complete()) << problems_;
  EXPECT_LT(client_->use().bytes_received - before, 100'000u);
  EXPECT_EQ(keys("-copy"), std::vector<std::string>{"large"});
  EXPECT_EQ(run(there(), there("-copy")).files_same, 1u);
}

TEST_F(BucketCopyTest, WhatIsNotInTheSourceIsRemoved) {
  put_at(folder_.path() / "a/one", "1");
  put("two", "2");
  put("seg.~0000000000", "");
  put("seg.~0000000001", "x");
  EXPECT_EQ(run(here("a"), there(), {.removes = true}).files_removed, 2u);
  EXPECT_EQ(keys(), std::vector<std::string>{"one"});
}

TEST_F(BucketCopyTest, ANetworkThatFailsOftenLosesNothing) {
  for (int i = 0; i < 40; ++i) put_at(folder_.path() / "a" / std::to_string(i), varied(1000 * i));
  put_at(folder_.path() / "a/large", varied(kLarge));
  const exchange::TestServer faults({TW_PYTHON, TW_SOURCE_DIR "/tests/servers/s3_faults.py", "--upstream",
                                     server_words()[0], "--rate", "0.3", "--seed", "7"});
  const auto bad = create_bucket_end(client_to(faults.port(), 10), prefix_, EndKind::kFolder);
  CopySummary summary = run(here("a"), bad);
  EXPECT_TRUE(summary.is_complete()) << problems_;
  summary = run(bad, here("b"));
  EXPECT_TRUE(summary.is_complete()) << problems_;
  EXPECT_EQ(files_in("b"), files_in("a"));
  EXPECT_EQ(unfinished(), 0u);
}

TEST_F(BucketCopyTest, ABucketThatIsAwayEndsTheCopy) {
  put_at(folder_.path() / "a/one", "1");
  CopyTree tree(here("a"), create_bucket_end(client_to("1"), prefix_, EndKind::kFolder),
                {.patience = std::chrono::milliseconds(0)});
  EXPECT_EQ(tree.run({}).status().code(), Code::kUnavailable);
}

}  // namespace
}  // namespace trainwarden::copy
