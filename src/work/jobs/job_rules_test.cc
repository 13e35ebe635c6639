#include "work/jobs/job_rules.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "core/base/folder_testing.h"

namespace trainwarden::jobs {
namespace {

namespace fs = std::filesystem;

class JobRulesTest : public testing::Test {
 protected:
  fs::path path(const std::string& file) const { return folder_.path() / file; }
  std::string text(const std::string& file) const {
    std::ifstream stream(path(file));
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  }
  void write(const std::string& file, const std::string& text) const {
    fs::create_directories(path(file).parent_path());
    std::ofstream(path(file)) << text;
  }
  static JobRule fired() {
    JobRule rule;
    rule.id = "LossSpike";
    rule.status = "IssuesFound";
    rule.details = "a spike";
    rule.changed_unix_ns = 7;
    rule.alerts = 2;
    rule.step = 5;
    rule.newest_unix_ns = 8;
    return rule;
  }

  TestFolder folder_;
  JobRules rules_{storage::Location(folder_.path())};
};

TEST_F(JobRulesTest, WhatIsRecordedIsReadAndItsLinesFollowOneAnother) {
  EXPECT_EQ(rules_.read("LossSpike").status().code(), Code::kNotFound);
  EXPECT_TRUE(rules_.list()->empty());
  JobRule rule = fired();
  ASSERT_TRUE(rules_.record(rule, "one").ok());
  ASSERT_TRUE(rules_.record(rule, "two").ok());
  EXPECT_EQ(text("rules/LossSpike.log"), "one\ntwo\n");
  EXPECT_EQ(*rules_.read("LossSpike"), fired());
  JobRule other = fired();
  other.id = "Divergence";
  ASSERT_TRUE(rules_.record(other, "three").ok());
  ASSERT_EQ(rules_.list()->size(), 2u);
  EXPECT_EQ(rules_.list()->at(0), other);
}

TEST_F(JobRulesTest, ALogHasALimitAndSaysSo) {
  JobRule rule = fired();
  const std::string line(100'000, 'x');
  for (int i = 0; i < 15; ++i) ASSERT_TRUE(rules_.record(rule, line).ok());
  EXPECT_LE(fs::file_size(path("rules/LossSpike.log")), kMaxRuleLogBytes);
  const std::string log = text("rules/LossSpike.log");
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 11) << "ten of them, and that it is full";
  EXPECT_NE(log.find("the log is full"), std::string::npos);
  rule.alerts = 99;
  JobRules next(storage::Location(folder_.path()));
  ASSERT_TRUE(next.record(rule, "another").ok());
  EXPECT_EQ(text("rules/LossSpike.log"), log);
  EXPECT_EQ(next.read("LossSpike")->alerts, 99) << "its status goes on";
}

TEST_F(JobRulesTest, ARulesIdIsNoWayOut) {
  JobRule rule = fired();
  rule.id = "../../up";
  ASSERT_TRUE(rules_.record(rule, "up").ok());
  EXPECT_EQ(rules_.read("../../up")->id, "../../up");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 1) << "rules";
  EXPECT_NE(rule_log_file("a/b"), rule_log_file("a_b"));
  EXPECT_NE(rule_log_file("a/b"), rule_log_file("a:b"));
  EXPECT_EQ(rule_log_file("LossSpike-2"), "rules/LossSpike-2.log");
  EXPECT_LT(rule_log_file(std::string(1000, 'a')).size(), 200u);
}

TEST_F(JobRulesTest, NoLinkIsFollowedAndNoPipeIsWaitedFor) {
  write("outside.log", "mine");
  fs::create_directories(path("rules"));
  fs::create_symlink(path("outside.log"), path("rules/LossSpike.log"));
  JobRule rule = fired();
  EXPECT_FALSE(rules_.record(rule, "line").ok());
  EXPECT_EQ(text("outside.log"), "mine");
  fs::remove(path("rules/LossSpike.log"));
  ASSERT_EQ(::mkfifo(path("rules/LossSpike.log").c_str(), 0600), 0);
  EXPECT_FALSE(rules_.record(rule, "line").ok());
  fs::remove_all(path("rules"));
  fs::create_directories(path("elsewhere"));
  fs::create_directory_symlink(path("elsewhere"), path("rules"));
  EXPECT_FALSE(rules_.record(rule, "line").ok());
  EXPECT_TRUE(fs::is_empty(path("elsewhere")));
}

TEST_F(JobRulesTest, WhatIsDamagedIsLeftOut) {
  JobRule rule = fired();
  ASSERT_TRUE(rules_.record(rule, "one").ok());
  const std::string whole = text("rules/LossSpike.json");
  write("rules/Torn.json", whole.substr(0, whole.size() / 2));
  write("rules/Large.json", std::string(100'000, ' '));
  write("rules/OfAnother.json", whole);
  fs::create_symlink(path("rules/LossSpike.json"), path("rules/Linked.json"));
  ASSERT_EQ(rules_.list()->size(), 1u);
  EXPECT_EQ(rules_.list()->at(0), fired());
  EXPECT_EQ(rules_.read("Torn").status().code(), Code::kDataLoss);
  EXPECT_EQ(rules_.read("OfAnother").status().code(), Code::kDataLoss);
}

TEST_F(JobRulesTest, OfAJobThatHasEndedNoRuleIsInProgress) {
  JobRule rule = fired();
  EXPECT_EQ(settled_rule(rule, {9, 9, JobPhase::kFailed, "", ""}), rule) << "a verdict stays";
  rule.status = "InProgress";
  EXPECT_EQ(settled_rule(rule, {9, 9, JobPhase::kInterrupted, "", ""}), rule) << "it may go on";
  EXPECT_EQ(settled_rule(rule, {9, 9, JobPhase::kFailed, "", ""}).status, "Stopped");
}

}  // namespace
}  // namespace trainwarden::jobs
