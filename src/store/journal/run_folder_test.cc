#include "store/journal/run_folder.h"

#include "store/journal/format_versions.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/folder_testing.h"
#include "store/journal/sample_run.h"
#include "store/storage/forwarding_storage.h"
#include "store/storage/local_storage.h"
#include "store/storage/memory_storage.h"

namespace trainwarden::journal {
namespace {

TEST(RunFolderTest, RunInfoRoundTrips) {
  const RunInfo info = sample_run_info();
  const Result<RunInfo> back = decode_run_info(encode_run_info(info));
  ASSERT_TRUE(back.ok()) << back.status().to_string();
  EXPECT_EQ(*back, info);
}

TEST(RunFolderTest, RunInfoWithBrokenTextIsStillJson) {
  RunInfo info = sample_run_info();
  info.command = {"a\xFFz"};
  EXPECT_TRUE(decode_run_info(encode_run_info(info)).ok());
}

TEST(RunFolderTest, BadRunInfoIsDataLossAndSaysWhy) {
  for (const char* text : {"", "[]", "{}", "{\"id\": 5}", "\xFF", R"({"id":"","format_version":1,"world_size":1})",
                           R"({"id":"a","format_version":1,"created_unix_ns":0,"world_size":0})"}) {
    const Result<RunInfo> info = decode_run_info(text);
    EXPECT_EQ(info.status().code(), Code::kDataLoss) << text;
    EXPECT_NE(info.status().message().find("run.json"), std::string::npos) << info.status().message();
  }
}

TEST(RunFolderTest, ANewerFormatIsNotGuessedAt) {
  RunInfo info = sample_run_info();
  info.format_version = kNewestVersion + 1;
  EXPECT_EQ(decode_run_info(encode_run_info(info)).status().code(), Code::kUnimplemented);
}

TEST(RunFolderTest, TheFirstWorkerCreatesAndTheOthersJoin) {
  const auto storage = storage::create_memory_storage();
  RunInfo info = sample_run_info();
  info.world_size = 2;
  ASSERT_EQ(create_or_join_run(*storage, info).value().id, info.id);
  RunInfo second = info;
  second.id = "ffffffffffffffffffffffffffffffff";
  EXPECT_EQ(create_or_join_run(*storage, second).value().id, info.id);
  EXPECT_EQ(read_run(*storage).value(), info);

  second.world_size = 4;
  const Status refused = create_or_join_run(*storage, second).status();
  EXPECT_EQ(refused.code(), Code::kFailedPrecondition);
  EXPECT_NE(refused.message().find("2 workers"), std::string::npos) << refused.message();
  EXPECT_EQ(create_or_join_run(*storage, second, /*goes_on=*/true).status().code(), Code::kFailedPrecondition);

  second.world_size = 1;
  EXPECT_EQ(create_or_join_run(*storage, second).status().code(), Code::kFailedPrecondition);
  EXPECT_EQ(create_or_join_run(*storage, second, /*goes_on=*/true)->world_size, 2);
}

TEST(RunFolderTest, NoRunIsNotFound) {
  EXPECT_EQ(read_run(*storage::create_memory_storage()).status().code(), Code::kNotFound);
}

TEST(RunFolderTest, NamesOfFilesAndWriters) {
  EXPECT_EQ(worker_name(3), "rank-00003");
  EXPECT_EQ(journal_folder("rank-00003"), "journal/rank-00003");
  EXPECT_EQ(segment_file(12), "seg-00000012.tw");
  EXPECT_EQ(segment_number("seg-00000012.tw"), 12u);
  EXPECT_EQ(segment_number("seg-12.tw"), std::nullopt);
  EXPECT_EQ(segment_number("seg-00000012.tw.tmp"), std::nullopt);
  EXPECT_EQ(segment_number("writer.lock"), std::nullopt);
  EXPECT_EQ(writer_id_of("rank-00003"), 3u);
  EXPECT_EQ(writer_id_of("watch-2"), 0x10002u);
  EXPECT_EQ(writer_id_of("output-2"), 0x30002u);
  EXPECT_EQ(writer_id_of("rank-"), std::nullopt);
  EXPECT_EQ(writer_id_of("other"), std::nullopt);
}

TEST(RunFolderTest, ARunIsToldFromTheOneThatTakesItsPlace) {
  const RunInfo info = sample_run_info();
  const auto storage = storage::create_memory_storage();
  EXPECT_EQ(check_same_run(*storage, info).code(), Code::kNotFound);
  storage->set_content(kRunFile, encode_run_info(info));
  EXPECT_EQ(run_identity(info), info.id);
  EXPECT_TRUE(check_same_run(*storage, info).ok());

  RunInfo next = info;
  next.id = "ffffffffffffffffffffffffffffffff";
  storage->set_content(kRunFile, encode_run_info(next));
  const Status refused = check_same_run(*storage, info);
  EXPECT_EQ(refused.code(), Code::kFailedPrecondition);
  EXPECT_NE(refused.message().find(next.id), std::string::npos) << refused.message();
}

TEST(RunFolderTest, AnIdThatIsNoNumberIsNoIdentityByItself) {
  RunInfo first = sample_run_info();
  first.id = "my run\n\x1b[31m";
  RunInfo second = first;
  second.created_unix_ns += 1;
  EXPECT_EQ(run_identity(first).size(), 32u);
  EXPECT_EQ(run_identity(first).find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(run_identity(first), run_identity(second));
  EXPECT_EQ(run_identity(first), run_identity(decode_run_info(encode_run_info(first)).value()));
}

TEST(RunFolderTest, RunsHaveDifferentSalts) {
  RunInfo other = sample_run_info();
  other.id.back() = '0';
  EXPECT_NE(run_salt(sample_run_info()), run_salt(other));
}

TEST(JournalBytesTest, CountsTheJournalsThatAreMeant) {
  const auto storage = storage::create_memory_storage();
  EXPECT_EQ(journal_bytes(*storage), 0U);
  storage->set_content("journal/rank-00000/seg-00000001.tw", "12345");
  storage->set_content("journal/watch-0/seg-00000001.tw", "123");
  storage->set_content("journal/ledger/seg-00000001.tw", "12");
  storage->set_content("journal/ledger/seg-00000002.tw", "1");
  EXPECT_EQ(journal_bytes(*storage), 11U);
  EXPECT_EQ(journal_bytes(*storage, {"watch-", "ledger"}), 6U);
}

// Somebody may put links into a run to have other people's files looked at.
TEST(JournalBytesTest, LinksDoNotCount) {
  namespace fs = std::filesystem;
  const TestFolder folder;
  const fs::path journal = folder.path() / "run" / "journal";
  const auto storage = storage::open_local_storage(folder.path() / "run");
  ASSERT_TRUE(storage->create_folder("journal/rank-00000").ok());
  ASSERT_TRUE(storage->put_if_absent("journal/rank-00000/seg-00000001.tw", as_bytes("12345")).ok());
  fs::copy(journal, folder.path() / "other", fs::copy_options::recursive);
  fs::create_directory_symlink(folder.path() / "other" / "rank-00000", journal / "rank-00001");
  fs::create_symlink(folder.path() / "other" / "rank-00000" / "seg-00000001.tw",
                     journal / "rank-00000" / "seg-00000007.tw");
  EXPECT_EQ(journal_bytes(*storage), 5U);
  fs::create_directory(folder.path() / "linked");
  fs::create_directory_symlink(folder.path() / "other", folder.path() / "linked" / "journal");
  EXPECT_EQ(journal_bytes(*storage::open_local_storage(folder.path() / "linked")), 0U);
}

TEST(RunFolderTest, ListsJournalsAndSegments) {
  const auto storage = storage::create_memory_storage();
  EXPECT_TRUE(list_journals(*storage).value().empty());
  storage->set_content("journal/watch-0/seg-00000000.tw", "");
  storage->set_content("journal/rank-00000/seg-00000010.tw", "");
  storage->set_content("journal/rank-00000/seg-00000002.tw", "");
  storage->set_content("journal/rank-00000/notes.txt", "");
  EXPECT_EQ(list_journals(*storage).value(), (std::vector<std::string>{"rank-00000", "watch-0"}));
  EXPECT_EQ(list_segments(*storage, "rank-00000").value(), (std::vector<std::uint64_t>{2, 10}));
  EXPECT_TRUE(list_segments(*storage, "rank-00001").value().empty());
}

// Some file systems cannot put a file whole: who comes second sees it grow.
class StorageThatPutsInParts final : public storage::ForwardingStorage {
 public:
  using ForwardingStorage::ForwardingStorage;
  mutable int reads = 0;
  Result<std::string> read(const std::string& path, std::uint64_t limit_bytes) const override {
    TRAINWARDEN_ASSIGN_OR_RETURN(std::string text, base().read(path, limit_bytes));
    if (reads++ < 2) text.resize(text.size() * static_cast<std::size_t>(reads - 1) / 2);
    return text;
  }
};

TEST(RunFolderTest, AWorkerWaitsForTheRunThatAnotherIsStillPutting) {
  const auto memory = storage::create_memory_storage();
  ASSERT_TRUE(create_or_join_run(*memory, sample_run_info()).ok());
  StorageThatPutsInParts in_parts(*memory);
  const auto joined = create_or_join_run(in_parts, sample_run_info());
  ASSERT_TRUE(joined.ok()) << joined.status().to_string();
  EXPECT_EQ(*joined, sample_run_info());
  EXPECT_EQ(in_parts.reads, 3);
}

}  // namespace
}  // namespace trainwarden::journal
