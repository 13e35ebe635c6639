#include "judge/rules/rule_summary.h"

#include <unistd.h>

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "judge/rules/engine.h"
#include "store/journal/run_folder.h"
#include "store/storage/local_storage.h"

namespace trainwarden::rules {
namespace {

class RuleSummaryTest : public ::testing::Test {
 protected:
  RuleSummaryTest() {
    std::filesystem::remove_all(run_);
    std::filesystem::create_directories(run_);
  }
  ~RuleSummaryTest() override { std::filesystem::remove_all(run_); }

  // A journal as an engine writes it.
  void write(const std::vector<std::string>& records) {
    const auto storage = storage::open_local_storage(run_);
    const auto info = journal::create_or_join_run(*storage, {.id = std::string(32, 'a')});
    ASSERT_TRUE(info.ok()) << info.status().to_string();
    auto journal = open_watch_journal(*storage, system_clock(), *info);
    ASSERT_TRUE(journal.ok()) << journal.status().to_string();
    for (const std::string& record : records) {
      ASSERT_TRUE(journal->writer->append_event(format::FrameKind::kVerdict, 0, record).ok());
    }
    ASSERT_TRUE(journal->writer->seal().ok());
  }

  static std::string status(const std::string& id, RuleStatus status, std::int64_t unix_ns, std::string details = "") {
    return encode_rule_status({id, id, {}, status, std::move(details), {}, unix_ns});
  }

  const std::filesystem::path run_ =  // tests run side by side, each in a process of its own
      std::filesystem::temp_directory_path() / ("trainwarden_rule_summary_test_" + std::to_string(::getpid()));
};

TEST_F(RuleSummaryTest, SpeaksAsTheServiceDid) {
  VerdictRecord fired{.rule_id = "VanishingGradient", .rule = "VanishingGradient"};
  fired.place = {500, Mode::kTrain, 500};
  fired.verdict = {Outcome::kFired, Severity::kWarning, "They have vanished.", "", {}};
  write({status("VanishingGradient", RuleStatus::kInProgress, 1), encode_verdict(fired),
         status("VanishingGradient", RuleStatus::kIssuesFound, 2)});
  const auto summaries = summarize_rules(run_);
  ASSERT_TRUE(summaries.ok()) << summaries.status().to_string();
  ASSERT_EQ(summaries->size(), 1U);
  const RuleSummary& summary = summaries->front();
  EXPECT_EQ(summary.configuration_name, "VanishingGradient");
  EXPECT_EQ(summary.evaluation_status, "IssuesFound");
  EXPECT_EQ(
      summary.status_details,
      "RuleEvaluationConditionMet: Evaluation of the rule VanishingGradient at step 500 resulted in the condition "
      "being met\nThey have vanished.\n");
  EXPECT_EQ(summary.last_modified_unix_ns, 2);
  ASSERT_EQ(summary.history.transitions.size(), 2U);
  EXPECT_EQ(summary.history.transitions[0].status, RuleStatus::kInProgress);
}

TEST_F(RuleSummaryTest, ARuleWhoseEngineIsGoneIsStopped) {
  write({status("A", RuleStatus::kInProgress, 1)});
  const auto summaries = summarize_rules(run_);
  ASSERT_TRUE(summaries.ok());
  EXPECT_EQ(summaries->at(0).evaluation_status, "Stopped");
}

TEST_F(RuleSummaryTest, NothingToJudgeIsAnErrorInTheServicesWords) {
  write({status("A", RuleStatus::kNotApplicable, 1, "nothing was captured")});
  const auto summaries = summarize_rules(run_);
  ASSERT_TRUE(summaries.ok());
  EXPECT_EQ(summaries->at(0).evaluation_status, "Error");
  EXPECT_EQ(summaries->at(0).status_details, "ClientError: no data to judge: nothing was captured\n");
}

TEST_F(RuleSummaryTest, ADefaultRuleWithNothingToJudgeIsNoFailure) {
  RuleStatusRecord named{"DeadRelu-2", "DeadRelu", {{"patience", "3"}}, RuleStatus::kNotApplicable, "no ReLU", {}, 2};
  write({status("DeadRelu", RuleStatus::kNotApplicable, 1, "no ReLU was captured"), encode_rule_status(named)});
  const auto summaries = summarize_rules(run_);
  ASSERT_TRUE(summaries.ok());
  EXPECT_EQ(summaries->at(0).evaluation_status, "NoIssuesFound");
  EXPECT_EQ(summaries->at(0).status_details, "Not applicable: no ReLU was captured\n");
  EXPECT_EQ(summaries->at(1).evaluation_status, "Error") << "somebody named it, with a parameter of his own";
}

TEST_F(RuleSummaryTest, DetailsAreAtMost1024BytesAndWholeCharacters) {
  std::string details;
  while (details.size() < 3000) details += "ä";
  write({status("A", RuleStatus::kNoIssuesFound, 1, details)});
  const auto summaries = summarize_rules(run_);
  ASSERT_TRUE(summaries.ok());
  const std::string& shown = *summaries->at(0).status_details;
  EXPECT_EQ(shown.size(), 1024U);
  EXPECT_EQ(shown, details.substr(0, 1024));
}

TEST_F(RuleSummaryTest, OfSeveralEnginesTheNewestHasTheWord) {
  write({status("A", RuleStatus::kNoIssuesFound, 5)});
  const auto storage = storage::open_local_storage(run_);
  const auto lock = storage->lock(journal::writer_lock("watch-0"));  // so that the next one takes another journal
  write({status("A", RuleStatus::kError, 9, "it threw"), status("B", RuleStatus::kNoIssuesFound, 1)});
  const auto summaries = summarize_rules(run_);
  ASSERT_TRUE(summaries.ok());
  ASSERT_EQ(summaries->size(), 2U);
  EXPECT_EQ(summaries->at(0).evaluation_status, "Error");
  EXPECT_EQ(summaries->at(0).status_details, "InternalServerError: it threw\n");
  EXPECT_EQ(summaries->at(1).configuration_name, "B");
}

}  // namespace
}  // namespace trainwarden::rules
