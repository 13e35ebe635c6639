#include "work/sagemaker/job_description.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "core/base/folder_testing.h"
#include "work/sagemaker/job_request.h"
#include "work/sagemaker/rule_evaluations.h"

namespace trainwarden::sagemaker {
namespace {

namespace fs = std::filesystem;
using format::OrderedJson;
using jobs::JobPhase;
using jobs::Transition;

constexpr std::int64_t kSecond = 1'000'000'000;

std::vector<Transition> ended_as(JobPhase phase, const std::string& message) {
  return {{1, 100 * kSecond, JobPhase::kPending, "submit", ""},
          {2, 101 * kSecond, JobPhase::kStarting, "agent", ""},
          {3, 103 * kSecond, JobPhase::kTraining, "agent", ""},
          {4, 110 * kSecond, JobPhase::kInterrupted, "agent lost", ""},
          {5, 120 * kSecond, JobPhase::kRestarting, "queue", ""},
          {6, 121 * kSecond, JobPhase::kStarting, "agent", ""},
          {7, 122 * kSecond, JobPhase::kTraining, "agent", ""},
          {8, 125 * kSecond + kSecond / 2, phase, "program", message}};
}

class JobDescription : public testing::Test {
 protected:
  jobs::JobRecord job(const std::string& spec, const std::string& request = "") {
    jobs::JobOrder order;
    order.name = "bert-7";
    order.submitted_unix_ns = 100 * kSecond;
    order.run = (folder_.path() / "runs" / "bert-7").string();
    order.spec = spec;
    const fs::path place = request.empty() ? folder_.path() / "work" : folder_.path() / "jobs/bert-7/sagemaker-1";
    order.spec_file = (place / "job.json").string();
    if (!request.empty()) write(place / kRequestFile, request);
    Result<jobs::JobRecord> record = jobs::JobRecord::create(storage::Location(folder_.path() / "jobs"), order);
    EXPECT_TRUE(record.ok()) << record.status().to_string();
    return *record;
  }
  static void write(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  static OrderedJson describe(const jobs::JobRecord& job, const std::vector<Transition>& transitions) {
    auto json = describe_training_job(job, transitions, "eu-1");
    EXPECT_TRUE(json.ok()) << json.status().to_string();
    return json.ok() ? *json : OrderedJson::object();
  }

  TestFolder folder_;
};

TEST_F(JobDescription, AJobOfOnesOwnFileIsDescribedByIt) {
  const auto record = job(R"json({"entry_point": "train.py", "hyperparameters": {"lr": 0.1, "words": "a b"},
      "inputs": {"train": "data/train"}, "output_dir": "s3://mine/out", "max_run": 60, "hook": false,
      "metric_definitions": [{"Name": "loss", "Regex": "loss: (.*)"}], "instance_type": "ml.x"})json");
  const OrderedJson json = describe(record, ended_as(JobPhase::kFailed, "AlgorithmError: exit code 1"));
  EXPECT_EQ(json.at("TrainingJobArn"), "arn:aws:sagemaker:eu-1:000000000000:training-job/bert-7");
  EXPECT_EQ(json.at("TrainingJobStatus"), "Failed");
  EXPECT_EQ(json.at("FailureReason"), "AlgorithmError: exit code 1");
  EXPECT_EQ(json.at("HyperParameters"), OrderedJson({{"lr", "0.1"}, {"words", "a b"}}));
  EXPECT_EQ(json.at("AlgorithmSpecification").at("MetricDefinitions").at(0).at("Regex"), "loss: (.*)");
  const OrderedJson& source = json.at("InputDataConfig").at(0).at("DataSource").at("S3DataSource");
  EXPECT_EQ(source.at("S3Uri"), (folder_.path() / "work/data/train").string());
  EXPECT_EQ(json.at("OutputDataConfig").at("S3OutputPath"), "s3://mine/out");
  EXPECT_EQ(json.at("StoppingCondition").at("MaxRuntimeInSeconds"), 60);
  EXPECT_EQ(json.at("ResourceConfig").at("InstanceType"), "ml.x");
  EXPECT_FALSE(json.contains("DebugHookConfig"));
  EXPECT_FALSE(json.contains("ModelArtifacts"));
}

TEST_F(JobDescription, TimesAreThoseOfTheTransitions) {
  const auto record = job(R"({"program": ["true"]})");
  const OrderedJson json = describe(record, ended_as(JobPhase::kCompleted, ""));
  EXPECT_EQ(json.at("CreationTime"), "1970-01-01T00:01:40.000Z");
  EXPECT_EQ(json.at("TrainingStartTime"), "1970-01-01T00:01:41.000Z");
  EXPECT_EQ(json.at("TrainingEndTime"), "1970-01-01T00:02:05.500Z");
  EXPECT_EQ(json.at("TrainingTimeInSeconds"), 24);
  EXPECT_EQ(json.at("BillableTimeInSeconds"), 10) << "7 s and 3.5 s of two attempts";
  const OrderedJson& steps = json.at("SecondaryStatusTransitions");
  EXPECT_EQ(steps.at(2).at("EndTime"), steps.at(3).at("StartTime"));
  EXPECT_FALSE(steps.back().contains("EndTime"));

  const OrderedJson waiting = describe(record, {{1, 100 * kSecond, JobPhase::kPending, "submit", "why"}});
  EXPECT_FALSE(waiting.contains("TrainingStartTime") || waiting.contains("TrainingEndTime"));
}

TEST_F(JobDescription, TheModelIsWhereItWasPacked) {
  const auto record = job(R"({"program": ["true"]})");
  const fs::path model = folder_.path() / "jobs/bert-7/output/model.tar.gz";
  write(model, "");
  EXPECT_EQ(describe(record, ended_as(JobPhase::kCompleted, "")).at("ModelArtifacts").at("S3ModelArtifacts"),
            model.string());
}

TEST_F(JobDescription, WhatWasRequestedIsSaidAgain) {
  const auto record = job(R"({"program": ["true"]})",
                          R"({"RoleArn": "me", "HyperParameters": {"lr": "0.1"}, "ResourceConfig": {"InstanceCount": 1},
                              "DebugHookConfig": {"S3OutputPath": "s3://mine"}, "Unknown": 1})");
  const OrderedJson json = describe(record, ended_as(JobPhase::kCompleted, ""));
  EXPECT_EQ(json.at("RoleArn"), "me");
  EXPECT_EQ(json.at("HyperParameters").at("lr"), "0.1");
  EXPECT_EQ(json.at("DebugHookConfig").at("S3OutputPath"), "s3://mine");
  EXPECT_EQ(json.at("DebugHookConfig").at("LocalPath"), record.order().run);
  EXPECT_FALSE(json.contains("Unknown"));
}

TEST_F(JobDescription, ARequestOfWrongKindsIsLeftOut) {
  for (const char* request :
       {R"({"DebugHookConfig": 1, "OutputDataConfig": "x", "DebugRuleConfigurations": {"a": 1}, "RoleArn": [1]})",
        R"({"OutputDataConfig": {"S3OutputPath": 5}, "DebugRuleConfigurations": [1, {"RuleParameters": []}, {}]})",
        "[[[", ""}) {
    fs::remove_all(folder_.path() / "jobs");
    const auto record = job(R"({"program": ["true"]})", std::string(request) + " ");
    const OrderedJson json = describe(record, ended_as(JobPhase::kCompleted, ""));
    EXPECT_EQ(json.at("TrainingJobStatus"), "Completed") << request;
    EXPECT_FALSE(json.contains("RoleArn"));
  }
}

TEST_F(JobDescription, AJobIsProfiledAsItsFileSaysByNow) {
  const auto described = job("program = 'true'\n", R"({"TrainingJobName": "bert-7", "ProfilerConfig": {
      "S3OutputPath": "s3://mine", "ProfilingIntervalInMilliseconds": 500}})");
  const auto transitions = ended_as(JobPhase::kCompleted, "");
  EXPECT_EQ(describe(described, transitions).at("ProfilingStatus"), "Enabled")
      << "without the file, as it was asked for";
  const fs::path file = folder_.path() / "jobs/bert-7/sagemaker-1" / kProfilerFile;
  write(file, R"({"DisableProfiler": true})");
  const OrderedJson off = describe(described, transitions);
  EXPECT_EQ(off.at("ProfilingStatus"), "Disabled");
  EXPECT_EQ(off.at("ProfilerConfig"), (OrderedJson{{"S3OutputPath", "s3://mine"}, {"DisableProfiler", true}}));
  write(file, "{}");
  EXPECT_EQ(describe(described, transitions).at("ProfilerConfig"), (OrderedJson{{"S3OutputPath", "s3://mine"}}));
  write(file, "no JSON");
  EXPECT_EQ(describe(described, transitions).at("ProfilerConfig").at("ProfilingIntervalInMilliseconds"), 500);
}

TEST(RuleEvaluations, RulesHaveTheNamesOfTheJob) {
  const OrderedJson request = OrderedJson::parse(R"({"DebugRuleConfigurations": [
      {"RuleConfigurationName": "first", "RuleParameters": {"rule_to_invoke": "Overfit"}},
      {"RuleConfigurationName": "second", "RuleParameters": {"rule_to_invoke": "Overfit"}},
      {"RuleConfigurationName": "third", "RuleParameters": {"rule_to_invoke": "DeadRelu"}}]})");
  const OrderedJson run = OrderedJson::parse(R"({"DebugRuleEvaluationStatuses": [
      {"RuleConfigurationName": "Overfit-2", "RuleEvaluationStatus": "IssuesFound", "StatusDetails": "why",
       "RuleEvaluationJobArn": "arn", "LastModifiedTime": "1970-01-01T00:00:01Z", "Rule": "Overfit"}]})");
  const auto status_of = [&](JobPhase phase) { return rule_evaluations(request, run, {4, kSecond, phase, "", ""}); };

  const OrderedJson running = status_of(JobPhase::kTraining);
  ASSERT_EQ(running.size(), 3u);
  EXPECT_EQ(running.at(0).at("RuleEvaluationStatus"), "InProgress");
  EXPECT_FALSE(running.at(0).contains("StatusDetails"));
  EXPECT_EQ(running.at(1).at("RuleConfigurationName"), "second");
  EXPECT_EQ(running.at(1).at("RuleEvaluationStatus"), "IssuesFound");
  EXPECT_FALSE(running.at(1).contains("Rule")) << "a field of ours";

  EXPECT_EQ(status_of(JobPhase::kStopped).at(0).at("RuleEvaluationStatus"), "Stopped");
  EXPECT_EQ(status_of(JobPhase::kCompleted).at(2).at("RuleEvaluationStatus"), "Error");
  EXPECT_TRUE(status_of(JobPhase::kFailed).at(2).contains("StatusDetails"));
  const OrderedJson profiling = {{"ProfilerRuleConfigurations", request.at("DebugRuleConfigurations")}};
  const OrderedJson profiled = profiler_rule_evaluations(profiling, run, {4, kSecond, JobPhase::kTraining, "", ""});
  EXPECT_EQ(profiled.at(0).at("RuleEvaluationStatus"), "InProgress");
  EXPECT_EQ(profiled.at(1).at("RuleEvaluationStatus"), "IssuesFound");
  EXPECT_TRUE(profiler_rule_evaluations(request, run, {}).empty());
  OrderedJson both = {
      {"DebugRuleConfigurations", OrderedJson::array({request.at("DebugRuleConfigurations").at(0)})},
      {"ProfilerRuleConfigurations", OrderedJson::array({request.at("DebugRuleConfigurations").at(1)})}};
  EXPECT_EQ(profiler_rule_evaluations(both, run, {}).at(0).at("RuleEvaluationStatus"), "IssuesFound")
      << "the second of its class, counted over both lists";
  EXPECT_EQ(requested_name(both, "Overfit"), "first");
  EXPECT_EQ(requested_name(both, "Overfit-2"), "second");
  EXPECT_EQ(requested_name(both, "DeadRelu"), "DeadRelu") << "it is none of the request";
  EXPECT_EQ(rule_evaluations(OrderedJson::object(), run, {}).at(0).at("RuleConfigurationName"), "Overfit-2");
}

TEST(RuleEvaluations, NobodyWaitsForARuleOfAJobThatHasEnded) {
  const OrderedJson run = OrderedJson::parse(R"({"DebugRuleEvaluationStatuses": [
      {"RuleConfigurationName": "Overfit", "RuleEvaluationStatus": "InProgress",
       "LastModifiedTime": "1970-01-01T00:00:01Z"}]})");
  const auto status_of = [&](JobPhase phase) {
    return rule_evaluations(OrderedJson::object(), run, {4, 2 * kSecond, phase, "", ""}).at(0);
  };
  EXPECT_EQ(status_of(JobPhase::kInterrupted).at("RuleEvaluationStatus"), "InProgress") << "it may go on";
  const OrderedJson ended = status_of(JobPhase::kFailed);
  EXPECT_EQ(ended.at("RuleEvaluationStatus"), "Stopped");
  EXPECT_NE(ended.at("StatusDetails").get<std::string>().find("the job has ended"), std::string::npos);
  EXPECT_EQ(ended.at("LastModifiedTime"), "1970-01-01T00:00:02.000Z");
}

}  // namespace
}  // namespace trainwarden::sagemaker
