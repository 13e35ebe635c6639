#include "react/events/description.h"

#include <gtest/gtest.h>

#include "core/base/folder_testing.h"
#include "judge/rules/watch_journal.h"
#include "react/events/recorder.h"
#include "store/storage/local_storage.h"
#include "trainwarden/describe.h"

namespace trainwarden::events {
namespace {

class DescriptionTest : public ::testing::Test {
 protected:
  // One worker with `steps` steps and a loss; says how it ended when it has.
  void write_run(int steps, bool ended) {
    journal::RunInfo info{.id = std::string(32, 'a'), .created_unix_ns = system_clock().unix_ns()};
    info.host = "node7";
    info.command = {"python", "train.py"};
    info.labels = {{"lr", "10.0"}};
    info_ = *journal::create_or_join_run(*storage_, info);
    journal::JournalOptions options;
    options.writer = journal::worker_name(0);
    options.collections = {{.name = "losses", .include = {"loss"}, .save = SavePolicy::every(10)}};
    auto writer = journal::JournalWriter::open(*storage_, system_clock(), info_, options);
    ASSERT_TRUE(writer.ok());
    for (int i = 0; i < steps; ++i) {
      journal::StepBatch batch;
      batch.global_step = i;
      if (i == 0) batch.new_names = {{1, "loss", {"losses"}}};
      batch.scalars = {{1, 5.0 - i}};
      ASSERT_TRUE((*writer)->append_step(batch).ok());
    }
    if (ended) {
      ASSERT_TRUE(
          (*writer)
              ->append_event(format::FrameKind::kEvent, -1, R"({"type":"run_end","state":"completed","reason":""})")
              .ok());
    }
    ASSERT_TRUE((*writer)->seal().ok());
  }
  void judge(RuleStatus status) {
    auto journal = rules::open_watch_journal(*storage_, system_clock(), info_);
    ASSERT_TRUE(journal.ok());
    for (const RuleStatus s : {RuleStatus::kInProgress, status}) {
      const rules::RuleStatusRecord record{"A", "A", {{"threshold", "1"}}, s, "why", {}, system_clock().unix_ns()};
      ASSERT_TRUE(journal->writer->append_event(format::FrameKind::kVerdict, -1, encode_rule_status(record)).ok());
    }
  }
  format::OrderedJson describe() {
    const auto job = describe_run(run_);
    EXPECT_TRUE(job.ok()) << job.status().to_string();
    return job.ok() ? *job : format::OrderedJson();
  }

  const TestFolder folder_;
  const std::filesystem::path run_ = folder_.path() / "first";
  const std::unique_ptr<storage::Storage> storage_ = storage::open_local_storage(run_);
  journal::RunInfo info_;
};

TEST_F(DescriptionTest, HasTheFieldsOfTheSource) {
  write_run(4, true);
  judge(RuleStatus::kNoIssuesFound);
  const auto job = describe();
  EXPECT_EQ(job.at("TrainingJobName"), "first");
  EXPECT_EQ(job.at("TrainingJobArn"), "trainwarden:training-job/first");
  EXPECT_EQ(job.at("TrainingJobStatus"), "Completed");
  EXPECT_EQ(job.at("SecondaryStatus"), "Completed");
  EXPECT_EQ(job.at("HyperParameters").at("lr"), "10.0");
  EXPECT_EQ(job.at("ResourceConfig").at("InstanceCount"), 1);
  EXPECT_EQ(job.at("SecondaryStatusTransitions").size(), 3u);
  EXPECT_TRUE(job.contains("TrainingTimeInSeconds"));
  EXPECT_FALSE(job.contains("FailureReason"));
  ASSERT_EQ(job.at("FinalMetricDataList").size(), 1u);
  EXPECT_EQ(job.at("FinalMetricDataList")[0].at("MetricName"), "loss");
  EXPECT_EQ(job.at("FinalMetricDataList")[0].at("Value"), 2.0);
  EXPECT_EQ(job.at("DebugRuleConfigurations")[0].at("RuleParameters").at("rule_to_invoke"), "A");
  EXPECT_EQ(job.at("DebugRuleConfigurations")[0].at("RuleParameters").at("threshold"), "1");
  EXPECT_EQ(job.at("DebugRuleEvaluationStatuses")[0].at("RuleEvaluationStatus"), "NoIssuesFound");
  EXPECT_EQ(job.at("DebugHookConfig").at("LocalPath"), run_.string());
  EXPECT_EQ(job.at("DebugHookConfig").at("CollectionConfigurations")[0].at("CollectionParameters").at("save_interval"),
            "10");
  EXPECT_EQ(job.at("Command"), (std::vector<std::string>{"python", "train.py"}));
  EXPECT_EQ(job.at("Events").at("Count"), 0);
}

TEST_F(DescriptionTest, SaysWhyARunFailed) {
  write_run(4, false);
  const auto job = describe();
  EXPECT_EQ(job.at("TrainingJobStatus"), "Failed");
  EXPECT_NE(job.at("FailureReason").get<std::string>().find("died"), std::string::npos);
}

// What the ledger has recorded counts: only the recorder knew the exit code.
TEST_F(DescriptionTest, BelievesTheLedger) {
  write_run(4, true);
  {
    const auto ledger = Ledger::open(*storage_, system_clock(), info_);
    ASSERT_TRUE(ledger.ok());
    const auto trial = Trial::open(run_);
    Recorder recorder(**trial, *storage_, **ledger);
    recorder.await_program_end();
    ASSERT_TRUE(recorder.poll().ok());
    EXPECT_EQ(describe().at("TrainingJobStatus"), "InProgress");
    EXPECT_EQ(describe().at("Events").at("Recording"), true);
    recorder.program_ended({1, system_clock().unix_ns()});
    ASSERT_TRUE(recorder.poll().ok());
  }
  const auto job = describe();
  EXPECT_EQ(job.at("TrainingJobStatus"), "Failed");
  EXPECT_EQ(job.at("FailureReason"), "exit code 1");
  EXPECT_EQ(job.at("State"), "completed");
  EXPECT_EQ(job.at("Events").at("Count"), 3);
  EXPECT_EQ(job.at("Events").at("Recording"), false);
}

// What came after the ledger was left is shown, and nothing is written.
TEST_F(DescriptionTest, GoesOnWhereTheLedgerEnds) {
  write_run(4, true);
  {
    const auto ledger = Ledger::open(*storage_, system_clock(), info_);
    const auto trial = Trial::open(run_);
    Recorder recorder(**trial, *storage_, **ledger);
    ASSERT_TRUE(recorder.poll().ok());
  }
  judge(RuleStatus::kIssuesFound);
  EXPECT_EQ(describe().at("DebugRuleEvaluationStatuses")[0].at("RuleEvaluationStatus"), "IssuesFound");
  EXPECT_EQ(describe().at("Events").at("Count"), 3);
  EXPECT_EQ(read_ledger(*storage_, info_)->events.size(), 3u);
}

TEST_F(DescriptionTest, CountsDeliveries) {
  write_run(1, true);
  {
    const auto ledger = Ledger::open(*storage_, system_clock(), info_);
    (*ledger)->record(SubscribedRecord{"ops", "webhook", "https://hooks.example.com", "", 1, 5});
    DeliveryRecord record;
    record.subscription = "ops";
    for (const auto state : {DeliveryState::kStarted, DeliveryState::kDelivered}) {
      record.seq = 1;
      record.state = state;
      (*ledger)->record(record);
    }
    record.seq = 2;
    record.state = DeliveryState::kDead;
    (*ledger)->record(record);
  }
  const auto job = describe();
  const auto& subscription = job.at("Events").at("Subscriptions")[0];
  EXPECT_EQ(subscription.at("Name"), "ops");
  EXPECT_EQ(subscription.at("Delivered"), 1);
  EXPECT_EQ(subscription.at("DeadLetters"), 1);
  EXPECT_EQ(subscription.at("UnderWay"), 0);
}

TEST_F(DescriptionTest, OfNoRunIsAnError) {
  EXPECT_EQ(describe_run(folder_.path() / "nowhere").status().code(), Code::kNotFound);
  EXPECT_EQ(describe_json(folder_.path() / "nowhere").status().code(), Code::kNotFound);
}

TEST_F(DescriptionTest, IsJsonForPrograms) {
  write_run(1, true);
  const auto text = describe_json(run_);
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(format::Json::parse(*text).at("TrainingJobName"), "first");
}

}  // namespace
}  // namespace trainwarden::events
