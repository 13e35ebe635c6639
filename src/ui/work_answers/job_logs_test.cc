#include "ui/work_answers/job_logs.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/base/folder_testing.h"

namespace trainwarden::work_answers {
namespace {

namespace fs = std::filesystem;

class JobLogsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    jobs::JobOrder order;
    order.name = "bert-7";
    order.submitted_unix_ns = 1'000'000'000;
    order.program = {"true"};
    auto job = jobs::JobRecord::create(folder_.path(), order);
    ASSERT_TRUE(job.ok()) << job.status().to_string();
    job_.emplace(*std::move(job));
  }

  fs::path in_job(const std::string& path) const { return folder_.path() / "bert-7" / path; }
  void write(const std::string& path, const std::string& text) const {
    fs::create_directories(in_job(path).parent_path());
    std::ofstream(in_job(path), std::ios::binary) << text;
  }
  Result<LogPiece> read(const std::string& id, std::optional<std::uint64_t> from = {}, std::size_t limit = 1000) const {
    return read_log_piece(*job_, id, {.from = from, .before = {}, .limit = limit});
  }
  std::vector<std::string> ids() const {
    std::vector<std::string> all;
    for (const JobLog& log : list_job_logs(*job_)) all.push_back(log.id);
    return all;
  }

  const TestFolder folder_;
  std::optional<jobs::JobRecord> job_;
};

TEST_F(JobLogsTest, TheEndComesFirstFromTheBeginningOfALine) {
  write("output.log", "one\ntwo\nthree\n");
  const auto whole = read("output");
  ASSERT_TRUE(whole.ok()) << whole.status().to_string();
  EXPECT_EQ(whole->text, "one\ntwo\nthree\n");
  const auto end = read("output", {}, 8);  // begins within "two"
  EXPECT_EQ(end->text, "three\n");
  EXPECT_EQ(end->from, 8U);
  EXPECT_EQ(end->to, 14U);
  EXPECT_EQ(end->bytes, 14U);
}

TEST_F(JobLogsTest, EarlierPiecesEndWhereALaterOneBegins) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += fmt::format("line {}\n", i);
  text += std::string(300, 'x') + "\n\xff\xff\n";  // a line that is longer than a piece, and no text
  write("output.log", text);
  std::string read_text;
  for (std::uint64_t end = text.size(); end > 0;) {
    const auto piece = read_log_piece(*job_, "output", {.from = {}, .before = end, .limit = 100});
    ASSERT_TRUE(piece.ok());
    ASSERT_EQ(piece->to, end);
    ASSERT_LT(piece->from, end);
    read_text.insert(0, piece->text);
    end = piece->from;
  }
  EXPECT_EQ(read_text, text);
}

TEST_F(JobLogsTest, PiecesFollowEachOtherWithoutLossAndBreakNoCharacter) {
  std::string text;
  for (int i = 0; i < 500; ++i) text += fmt::format("{} \u00e4\u20ac\U0001F600\n", i);
  write("output.log", text);
  for (const std::size_t limit : {64U, 65U, 66U, 67U}) {
    std::string read_text;
    for (std::uint64_t from = 0;;) {
      const auto piece = read("output", from, limit);
      ASSERT_TRUE(piece.ok());
      if (piece->text.empty()) break;
      EXPECT_LE(piece->text.size(), limit);
      read_text += piece->text;
      from = piece->to;
    }
    EXPECT_EQ(read_text, text);
  }
}

TEST_F(JobLogsTest, WhatIsNoTextIsStillRead) {
  write("output.log", "\xff\xfe broken \xe2\x82");
  const auto piece = read("output", 0);
  ASSERT_TRUE(piece.ok());
  EXPECT_EQ(piece->text, "\xff\xfe broken ");  // the last may be half a character
  EXPECT_EQ(whole_length("\x80\x80\x80\x80\x80"), 5U);
  EXPECT_EQ(whole_length(""), 0U);
  EXPECT_EQ(read("output", 1'000'000)->text, "");
}

TEST_F(JobLogsTest, RanksComeByNumberAndRulesByName) {
  for (const char* file : {"output.log", "agent.log", "ranks/10.log", "ranks/2.log", "ranks/notes.txt",
                           "rules/NotANumber.log", "rules/LossSpike.log"}) {
    write(file, "x\n");
  }
  EXPECT_EQ(ids(),
            (std::vector<std::string>{"output", "agent", "rank-2", "rank-10", "rule-LossSpike", "rule-NotANumber"}));
  EXPECT_EQ(read("rank-10")->text, "x\n");
}

TEST_F(JobLogsTest, NoLinkIsFollowedAndNoIdIsAPath) {
  std::ofstream(folder_.path() / "secret.log") << "secret";
  fs::create_directories(in_job("ranks"));
  fs::create_symlink(folder_.path() / "secret.log", in_job("output.log"));
  fs::create_symlink(folder_.path() / "secret.log", in_job("ranks/0.log"));
  fs::create_symlink(folder_.path(), in_job("rules"));
  EXPECT_EQ(ids(), std::vector<std::string>());
  for (const char* id : {"output", "rank-0", "rule-secret", "rank-../../secret", "../secret.log", ""}) {
    EXPECT_EQ(read(id).status().code(), Code::kNotFound) << id;
  }
}

}  // namespace
}  // namespace trainwarden::work_answers
