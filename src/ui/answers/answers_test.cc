#include "ui/answers/answers.h"

#include <unistd.h>

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "data/format/json.h"
#include "ui/answers/live_run_testing.h"
#include "ui/views/shelf.h"

namespace trainwarden::answers {
namespace {

namespace fs = std::filesystem;

class AnswersTest : public testing::Test {
 protected:
  void SetUp() override { folder_ = fs::path(testing::TempDir()) / ("answers_test-" + std::to_string(getpid())); }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path run_dir() const { return folder_ / "first"; }

  fs::path folder_;
};

TEST_F(AnswersTest, AreThoseOfTheServerAboutThisRun) {
  LiveRun(run_dir()).step(0);
  auto answers = Answers::open(run_dir());
  ASSERT_TRUE(answers.ok()) << answers.status().to_string();
  EXPECT_EQ((*answers)->run_id(), views::run_id_of("first"));
  const auto answer = (*answers)->ask("/runs/" + (*answers)->run_id() + "/attention");
  ASSERT_TRUE(answer.ok()) << answer.status().to_string();
  EXPECT_EQ(answer->type, "application/json");
  const auto map = format::parse_json_object(*answer->body, "the answer");
  ASSERT_TRUE(map.ok()) << map.status().to_string();
  EXPECT_EQ(map->at("source"), "none");
}

TEST_F(AnswersTest, TakeTheParametersOfAnAddress) {
  LiveRun(run_dir()).step(0);
  auto answers = Answers::open(run_dir());
  ASSERT_TRUE(answers.ok());
  const std::string run = "/runs/" + (*answers)->run_id();
  EXPECT_EQ((*answers)->ask(run + "/attention?nonsense=1").status().code(), Code::kInvalidArgument);
  EXPECT_EQ((*answers)->ask(run + "/nonsense").status().code(), Code::kNotFound);
  EXPECT_EQ((*answers)->ask("/runs/0123456789abcdef/attention").status().code(), Code::kNotFound);
  EXPECT_EQ((*answers)->ask(run + "/stop").status().code(), Code::kUnimplemented);  // a POST
}

TEST_F(AnswersTest, TellOfNews) {
  LiveRun run(run_dir());
  run.step(0);
  auto answers = Answers::open(run_dir());
  ASSERT_TRUE(answers.ok());
  const auto before = (*answers)->version();
  ASSERT_TRUE(before.ok());
  EXPECT_EQ(*(*answers)->version(), *before);
  run.step(1);
  EXPECT_GT(*(*answers)->version(), *before);
}

TEST_F(AnswersTest, NeedARun) {
  fs::create_directories(folder_ / "none");
  EXPECT_EQ(Answers::open(folder_ / "none").status().code(), Code::kNotFound);
  EXPECT_EQ(Answers::open(folder_ / "absent").status().code(), Code::kNotFound);
}

}  // namespace
}  // namespace trainwarden::answers
