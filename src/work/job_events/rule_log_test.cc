#include "work/job_events/rule_log.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "core/base/folder_testing.h"

namespace trainwarden::job_events {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

events::Event change_of(const std::string& rule, const std::string& status, std::int64_t seconds) {
  events::Event event;
  event.change = {events::ChangeKind::kRule, rule, "", status};
  event.unix_ns = seconds * kSecond;
  event.headline = rule + " is " + status;
  event.text = "why it is " + status + "\nRun r1 is InProgress";
  return event;
}

events::Event alert_of(const std::string& rule, std::int64_t seconds, std::int64_t step) {
  events::Event event = change_of(rule, "IssuesFound", seconds);
  event.change = {events::ChangeKind::kAlert, rule, "", ""};
  event.headline = rule + " fired";
  event.global_step = step;
  return event;
}

class RuleLogTest : public testing::Test {
 protected:
  std::filesystem::path job() const { return folder_.path() / "first"; }
  std::string log(const std::string& rule) const {
    std::ifstream stream(job() / jobs::rule_log_file(rule));
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  }
  jobs::JobRule status(const std::string& rule) const {
    return jobs::JobRules(storage::Location(job())).read(rule).value_or({});
  }
  TestFolder folder_;
};

TEST_F(RuleLogTest, EachChangeIsALineAndTheNewestIsTheStatus) {
  RuleLogs logs{storage::Location(job())};
  EXPECT_TRUE(*logs.take(change_of("LossSpike", "InProgress", 1)));
  EXPECT_EQ(status("LossSpike").status, "InProgress");
  EXPECT_EQ(status("LossSpike").step, -1);
  EXPECT_TRUE(*logs.take(alert_of("LossSpike", 2, 120)));
  EXPECT_TRUE(*logs.take(change_of("LossSpike", "IssuesFound", 2)));
  EXPECT_EQ(log("LossSpike"),
            "1970-01-01T00:00:01.000Z  InProgress  LossSpike is InProgress: why it is InProgress\n"
            "1970-01-01T00:00:02.000Z  Alert  LossSpike fired: why it is IssuesFound\n"
            "1970-01-01T00:00:02.000Z  IssuesFound  LossSpike is IssuesFound: why it is IssuesFound\n");
  const jobs::JobRule now = status("LossSpike");
  EXPECT_EQ(now.status, "IssuesFound");
  EXPECT_EQ(now.details, "why it is IssuesFound");
  EXPECT_EQ(now.alerts, 1);
  EXPECT_EQ(now.step, 120);
  EXPECT_EQ(now.changed_unix_ns, 2 * kSecond);
}

TEST_F(RuleLogTest, TheNextAttemptGoesOnBehindWhatIsThere) {
  RuleLogs first{storage::Location(job())};
  ASSERT_TRUE(first.take(change_of("Rule", "InProgress", 1)).ok());
  ASSERT_TRUE(first.take(alert_of("Rule", 2, 5)).ok());
  RuleLogs second{storage::Location(job())};
  for (const auto& event : {change_of("Rule", "InProgress", 1), alert_of("Rule", 2, 5)}) {
    EXPECT_FALSE(*second.take(event)) << "of the attempt before";
  }
  EXPECT_TRUE(*second.take(change_of("Rule", "InProgress", 3)));
  EXPECT_TRUE(*second.take(alert_of("Rule", 3, 9))) << "at the same moment";
  const std::string lines = log("Rule");
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 4);
  EXPECT_EQ(status("Rule").alerts, 2);
}

TEST_F(RuleLogTest, WhatIsOfNoRuleIsNothingToIt) {
  RuleLogs logs{storage::Location(job())};
  events::Event event;
  event.unix_ns = kSecond;
  EXPECT_FALSE(*logs.take(event));
  EXPECT_FALSE(*logs.take(change_of(std::string(5000, 'x'), "InProgress", 1))) << "no rule has such an id";
  EXPECT_FALSE(std::filesystem::exists(job()));
}

TEST_F(RuleLogTest, WithoutARunNoRuleHadAnythingToJudge) {
  RuleLogs logs{storage::Location(job())};
  ASSERT_TRUE(logs.note_no_run(std::vector<std::string>{"LossSpike", "Hang"}, kSecond).ok());
  EXPECT_EQ(status("Hang").status, "NotApplicable");
  EXPECT_EQ(log("LossSpike"),
            "1970-01-01T00:00:01.000Z  NotApplicable  the program has ended, and has captured nothing to judge\n");
}

TEST_F(RuleLogTest, TextsOfARunDriveNoTerminalAndFillNoDisk) {
  RuleLogs logs{storage::Location(job())};
  events::Event event = change_of("Rule", "Error", 1);
  event.text = "\x1b[31mred" + std::string(1 << 20, 'x');
  ASSERT_TRUE(*logs.take(event));
  EXPECT_EQ(log("Rule").find('\x1b'), std::string::npos);
  EXPECT_LT(log("Rule").size(), 20'000u);
  for (int i = 0; i < static_cast<int>(jobs::kMaxListedRules) + 5; ++i) {
    ASSERT_TRUE(logs.take(change_of("Rule-" + std::to_string(i), "InProgress", 1)).ok());
  }
  EXPECT_EQ(jobs::JobRules(storage::Location(job())).list()->size(), jobs::kMaxListedRules);
}

TEST_F(RuleLogTest, WhatCannotBeWrittenIsAnError) {
  std::filesystem::create_directories(job());
  std::ofstream(job() / "rules") << "a file is in the way";
  RuleLogs logs{storage::Location(job())};
  EXPECT_FALSE(logs.take(change_of("Rule", "InProgress", 1)).ok());
}

}  // namespace
}  // namespace trainwarden::job_events
