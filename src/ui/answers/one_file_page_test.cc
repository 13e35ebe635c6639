#include "ui/answers/one_file_page.h"

#include <unistd.h>

#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "data/format/json.h"
#include "ui/answers/live_run_testing.h"
#include "ui/answers/page_file.h"
#include "ui/answers/run_archive.h"
#include "ui/views/shelf.h"

namespace trainwarden::answers {
namespace {

namespace fs = std::filesystem;

class OneFilePageTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / fmt::format("one_file_page_test-{}", getpid()) / kName;
    LiveRun run(folder_);
    for (int step = 0; step < 5; ++step) run.step(step);
  }
  void TearDown() override { fs::remove_all(folder_.parent_path()); }

  // A name that would be markup.
  static constexpr const char* kName = "\"><img src=x onerror=alert(1)>";
  fs::path folder_;
};

TEST_F(OneFilePageTest, HoldsTheListsOfItsRun) {
  const auto archive = archive_run(folder_, {.most_bytes = 1 << 20});
  ASSERT_TRUE(archive.ok()) << archive.status().to_string();
  EXPECT_EQ(archive->run_name, kName);
  EXPECT_EQ(archive->left_out, 0U);
  const std::string run = "/runs/" + views::run_id_of(kName);
  for (const std::string& address :
       {std::string("/about"), std::string("/runs"), run, run + "/steps", run + "/tensors"}) {
    const auto found = std::find_if(archive->answers.begin(), archive->answers.end(),
                                    [&](const ArchivedAnswer& answer) { return answer.address == address; });
    ASSERT_NE(found, archive->answers.end()) << address;
    EXPECT_TRUE(format::Json::parse(*found->body, nullptr, false).is_object()) << address;
  }
}

TEST_F(OneFilePageTest, LeavesOutTheTextsOfTheTraining) {
  const auto archive = archive_run(folder_, {.most_bytes = 1 << 20, .texts = Texts::kLeftOut});
  ASSERT_TRUE(archive.ok()) << archive.status().to_string();
  const std::string address = "/runs/" + views::run_id_of(kName);
  const auto run = std::find_if(archive->answers.begin(), archive->answers.end(),
                                [&](const ArchivedAnswer& answer) { return answer.address == address; });
  ASSERT_NE(run, archive->answers.end());
  const format::Json json = format::Json::parse(*run->body);
  EXPECT_EQ(json.at("host"), "");
  EXPECT_TRUE(json.at("command").empty());
  for (const ArchivedAnswer& answer : archive->answers) {
    EXPECT_EQ(answer.body->find(folder_.parent_path().string()), std::string::npos) << answer.address;
  }
}

TEST_F(OneFilePageTest, LeavesOutWhatIsTooMuch) {
  const auto archive = archive_run(folder_, {.most_bytes = 300});
  ASSERT_TRUE(archive.ok());
  EXPECT_LE(archive->bytes, 300U);
  EXPECT_GT(archive->left_out, 0U);
}

TEST_F(OneFilePageTest, GivesTheNameNoMeaningInThePage) {
  const auto page = one_file_page(folder_);
  if (find_page_file("one_file/index.html") == nullptr) {
    EXPECT_EQ(page.status().code(), Code::kFailedPrecondition);
    return;
  }
  ASSERT_TRUE(page.ok()) << page.status().to_string();
  EXPECT_EQ(page->html.find("<img"), std::string::npos);
  EXPECT_EQ(page->html.find("<!--TRAINWARDEN-ANSWERS-->"), std::string::npos);
  EXPECT_NE(page->html.find("id=\"answers\" data-run=\"%22%3E%3Cimg"), std::string::npos);
  EXPECT_NE(page->html.find("Content-Security-Policy\" content=\"default-src 'none'; script-src 'sha256-"),
            std::string::npos);
}

TEST_F(OneFilePageTest, SaysThatThereIsNoRun) {
  EXPECT_EQ(archive_run(folder_ / "nothing").status().code(), Code::kNotFound);
}

}  // namespace
}  // namespace trainwarden::answers
