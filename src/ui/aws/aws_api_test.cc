#include "ui/aws/aws_api.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "core/base/folder_testing.h"

namespace trainwarden::aws {
namespace {

using format::Json;
using format::OrderedJson;

// A program that answers what it is told, and remembers what it was asked.
class AwsCalls : public testing::Test {
 protected:
  AwsAnswer call(const char* target, const Json& request, bool may_act = false, bool may_submit = false) {
    const AwsApi api({[this](const std::vector<std::string>& words, const std::string& input) {
                        asked_ = words;
                        input_ = input;
                        return reply_;
                      },
                      may_act, may_submit});
    return api.answer(target, request.dump());
  }
  std::string code(const char* target, const Json& request, bool may_act = false) {
    const AwsAnswer answer = call(target, request, may_act);
    return answer.status == 200 ? "fine" : answer.body.at("__type").get<std::string>();
  }

  TestFolder folder_;
  Result<Json> reply_ = Json::object();
  std::vector<std::string> asked_;
  std::string input_;
};

Json row(const std::string& name, const std::string& submitted, const std::string& status) {
  return {
      {"name", name}, {"submitted", submitted}, {"time", submitted}, {"status", status}, {"secondary_status", status}};
}

TEST_F(AwsCalls, ADescriptionHasItsTimesAsNumbers) {
  reply_ = Json::parse(R"({"TrainingJobName": "a", "CreationTime": "1970-01-01T00:00:01.500Z",
      "SecondaryStatusTransitions": [{"Status": "Pending", "StartTime": "1970-01-01T00:00:02.000Z"}],
      "TrainingTimeInSeconds": 5, "HyperParameters": {"StartTime": "1970-01-01T00:00:01Z"}})");
  const AwsAnswer answer = call("SageMaker.DescribeTrainingJob", {{"TrainingJobName", "--help"}});
  EXPECT_EQ(answer.status, 200u);
  EXPECT_EQ(answer.body.at("CreationTime"), 1.5);
  EXPECT_EQ(answer.body.at("SecondaryStatusTransitions").at(0).at("StartTime"), 2.0);
  EXPECT_EQ(answer.body.at("HyperParameters").at("StartTime"), "1970-01-01T00:00:01Z") << "a text of the user's";
  EXPECT_EQ(asked_, (std::vector<std::string>{"job", "describe", "--format", "sagemaker", "--", "--help"}));
}

TEST_F(AwsCalls, WhatTheProgramSaysIsAnErrorOfAws) {
  const Json request = {{"TrainingJobName", "a"}};
  const std::pair<Code, const char*> codes[] = {{Code::kNotFound, "ResourceNotFound"},
                                                {Code::kAlreadyExists, "ResourceInUse"},
                                                {Code::kInvalidArgument, "ValidationException"},
                                                {Code::kInternal, "InternalFailure"}};
  for (const auto& [ours, theirs] : codes) {
    reply_ = Status(ours, "why");
    EXPECT_EQ(code("SageMaker.DescribeTrainingJob", request), theirs);
    EXPECT_EQ(call("SageMaker.DescribeTrainingJob", request).body.at("message"), "why");
  }
}

TEST_F(AwsCalls, RequestsThatCannotBeMeantAskNothing) {
  EXPECT_EQ(code("SageMaker.DescribeTrainingJob", Json::object()), "ValidationException");
  EXPECT_EQ(code("SageMaker.DescribeTrainingJob", {{"TrainingJobName", 5}}), "ValidationException");
  EXPECT_EQ(code("SageMaker.DescribeTrainingJob", Json::array()), "SerializationException");
  EXPECT_EQ(code("SageMaker.DeleteEverything", Json::object()), "UnknownOperationException");
  EXPECT_EQ(code("SageMaker.StopTrainingJob", {{"TrainingJobName", "a"}}), "AccessDeniedException");
  for (const Json& wrong :
       {Json{{"SortBy", "Colour"}}, Json{{"SortOrder", 1}}, Json{{"MaxResults", 0}}, Json{{"NextToken", "x"}},
        Json{{"CreationTimeAfter", "soon"}}, Json{{"CreationTimeAfter", 1e300}}}) {
    EXPECT_EQ(code("SageMaker.ListTrainingJobs", wrong), "ValidationException") << wrong.dump();
  }
  EXPECT_TRUE(asked_.empty());
  EXPECT_EQ(code("SageMaker.StopTrainingJob", {{"TrainingJobName", "a"}}, true), "fine");
  EXPECT_EQ(asked_.back(), "a");
}

TEST_F(AwsCalls, ARequestForAJobIsHandedOnWholeWhereThatIsAllowed) {
  const Json request = {{"TrainingJobName", "Bert-7"}, {"Unknown", "--help"}};
  EXPECT_EQ(code("SageMaker.CreateTrainingJob", request), "AccessDeniedException");
  EXPECT_EQ(code("SageMaker.CreateTrainingJob", request, true), "AccessDeniedException") << "to stop is less";
  EXPECT_TRUE(asked_.empty());
  reply_ = Json{{"job", "Bert-7"}};
  const AwsAnswer answer = call("SageMaker.CreateTrainingJob", request, false, true);
  EXPECT_EQ(answer.body.at("TrainingJobArn"), "arn:aws:sagemaker:local:000000000000:training-job/bert-7");
  EXPECT_EQ(asked_, (std::vector<std::string>{"submit", "--format", "sagemaker", "-"}));
  EXPECT_EQ(Json::parse(input_), request);
  reply_ = Status(Code::kInvalidArgument, "unknown key");
  EXPECT_EQ(call("SageMaker.CreateTrainingJob", request, false, true).body.at("__type"), "ValidationException");
  EXPECT_EQ(call("SageMaker.StopTrainingJob", request, false, true).body.at("__type"), "AccessDeniedException");
}

TEST_F(AwsCalls, AStepIsAJobByOtherNames) {
  const Json request = {{"ProcessingJobName", "Prepare-1"}};
  EXPECT_EQ(code("SageMaker.CreateProcessingJob", request, true), "AccessDeniedException");
  EXPECT_EQ(call("SageMaker.CreateTrainingJob", request, false, true).body.at("__type"), "ValidationException")
      << "a step is none of its jobs";
  EXPECT_TRUE(asked_.empty());
  reply_ = Json{{"job", "Prepare-1"}};
  EXPECT_EQ(call("SageMaker.CreateProcessingJob", request, false, true).body.at("ProcessingJobArn"),
            "arn:aws:sagemaker:local:000000000000:processing-job/prepare-1");
  reply_ = Json{{"TrainingJobName", "Prepare-1"}, {"TrainingJobStatus", "Completed"}};
  EXPECT_EQ(code("SageMaker.DescribeProcessingJob", request), "ResourceNotFound") << "a training job";
  reply_ = Json{{"TrainingJobName", "Prepare-1"},
                {"TrainingJobStatus", "Completed"},
                {"TrainingStartTime", "1970-01-01T00:00:01Z"},
                {"AppSpecification", {{"ContainerEntrypoint", {"python3"}}}},
                {"ProfilingStatus", "Disabled"}};
  const OrderedJson body = call("SageMaker.DescribeProcessingJob", request).body;
  EXPECT_EQ(body.at("ProcessingJobStatus"), "Completed");
  EXPECT_EQ(body.at("ProcessingStartTime"), 1.0);
  EXPECT_FALSE(body.contains("ProfilingStatus") || body.contains("TrainingJobName"));
  EXPECT_EQ(code("SageMaker.StopProcessingJob", request), "AccessDeniedException");
  EXPECT_EQ(code("SageMaker.StopProcessingJob", request, true), "fine");
  EXPECT_EQ(code("SageMaker.StopProcessingJob", Json::object(), true), "ValidationException");
}

TEST_F(AwsCalls, JobsAreListedAPageAtATime) {
  reply_ = Json{{"jobs",
                 {row("b-2", "1970-01-01T00:00:03Z", "Completed"),
                  row("a-1", "1970-01-01T00:00:02Z", "Failed"),
                  {{"name", "broken"}, {"unreadable", "why"}},
                  row("a-0", "1970-01-01T00:00:01Z", "InProgress")}}};
  const auto names = [&](const Json& request) {
    std::string all;
    const AwsAnswer answer = call("SageMaker.ListTrainingJobs", request);
    for (const auto& one : answer.body.at("TrainingJobSummaries")) {
      all += one.at("TrainingJobName").get<std::string>() + " ";
    }
    return all + answer.body.value("NextToken", "");
  };
  EXPECT_EQ(names(Json::object()), "b-2 a-1 a-0 ");
  EXPECT_EQ(names({{"MaxResults", 2}}), "b-2 a-1 2");
  EXPECT_EQ(names({{"MaxResults", 2}, {"NextToken", "2"}}), "a-0 ");
  EXPECT_EQ(names({{"NextToken", "99"}}), "");
  EXPECT_EQ(names({{"NameContains", "a-"}, {"SortBy", "Name"}, {"SortOrder", "Ascending"}}), "a-0 a-1 ");
  EXPECT_EQ(names({{"StatusEquals", "Failed"}}), "a-1 ");
  EXPECT_EQ(names({{"CreationTimeAfter", 1.5}, {"CreationTimeBefore", "1970-01-01T00:00:02.5Z"}}), "a-1 ");
  const AwsAnswer all = call("SageMaker.ListTrainingJobs", Json::object());
  EXPECT_TRUE(all.body["TrainingJobSummaries"][0].contains("TrainingEndTime"));
  EXPECT_FALSE(all.body["TrainingJobSummaries"][2].contains("TrainingEndTime"));
}

TEST_F(AwsCalls, ALogIsReadLineByLineFromWhereItWasLeft) {
  const auto output = folder_.path() / "output.log";
  reply_ = Json{{"output", output.string()}};
  Json request = {{"logGroupName", "/aws/sagemaker/TrainingJobs"}, {"logStreamName", "bert-7/algo-1"}};
  EXPECT_TRUE(call("Logs_20140328.GetLogEvents", request).body.at("events").empty());
  std::ofstream(output) << "one\ntwo\xff\nthr";
  const AwsAnswer first = call("Logs_20140328.GetLogEvents", request);
  ASSERT_EQ(first.body.at("events").size(), 2u) << "the third line is not whole";
  EXPECT_EQ(first.body["events"][0].at("message"), "one");
  EXPECT_EQ(first.body["events"][1].at("message"), "two\xEF\xBF\xBD");
  EXPECT_GT(first.body["events"][0].at("timestamp").get<std::int64_t>(), 1'600'000'000'000);
  std::ofstream(output, std::ios::app) << "ee\nfour\n";
  request["nextToken"] = first.body.at("nextForwardToken");
  request["limit"] = 1;
  const AwsAnswer second = call("Logs_20140328.GetLogEvents", request);
  ASSERT_EQ(second.body.at("events").size(), 1u);
  EXPECT_EQ(second.body["events"][0].at("message"), "three");
  request["nextToken"] = "f/999999";
  EXPECT_TRUE(call("Logs_20140328.GetLogEvents", request).body.at("events").empty());
  for (const char* token : {"f/-1", "f/x", "x"}) {
    request["nextToken"] = token;
    EXPECT_EQ(code("Logs_20140328.GetLogEvents", request), "ValidationException") << token;
  }
}

TEST_F(AwsCalls, ALongLogIsReadInParts) {
  const auto output = folder_.path() / "output.log";
  {
    std::ofstream file(output);
    file << std::string(3 << 20, 'x') << "\nlast\n";
  }
  reply_ = Json{{"output", output.string()}};
  Json request = {
      {"logGroupName", "/aws/sagemaker/TrainingJobs"}, {"logStreamName", "a/algo-1"}, {"startFromHead", true}};
  std::size_t bytes = 0;
  std::string last;
  for (int parts = 0; parts < 10; ++parts) {
    const AwsAnswer answer = call("Logs_20140328.GetLogEvents", request);
    if (answer.body.at("events").empty()) break;
    for (const auto& event : answer.body.at("events")) bytes += (last = event.at("message")).size();
    request["nextToken"] = answer.body.at("nextForwardToken");
  }
  EXPECT_EQ(bytes, (3u << 20) + 4);
  EXPECT_EQ(last, "last");
  std::filesystem::remove(output);
  std::filesystem::create_symlink("/etc/passwd", output);
  EXPECT_TRUE(call("Logs_20140328.GetLogEvents", request).body.at("events").empty()) << "a link is not followed";
}

TEST_F(AwsCalls, StreamsAreThoseOfTheJobs) {
  reply_ =
      Json{{"jobs", {row("b-2", "1970-01-01T00:00:03Z", "Completed"), row("a-1", "1970-01-01T00:00:02Z", "Failed")}},
           {"ranks", 1}};
  Json request = {{"logGroupName", "/aws/sagemaker/TrainingJobs"}, {"logStreamNamePrefix", "a-1"}};
  const AwsAnswer answer = call("Logs_20140328.DescribeLogStreams", request);
  ASSERT_EQ(answer.body.at("logStreams").size(), 1u);
  EXPECT_EQ(answer.body["logStreams"][0].at("logStreamName"), "a-1/algo-1");
  EXPECT_EQ(answer.body["logStreams"][0].at("creationTime"), 2000);
  request["logGroupName"] = "/other";
  EXPECT_EQ(code("Logs_20140328.DescribeLogStreams", request), "ResourceNotFoundException");
  EXPECT_EQ(
      code("Logs_20140328.GetLogEvents", {{"logGroupName", "/aws/sagemaker/TrainingJobs"}, {"logStreamName", "a-1"}}),
      "ResourceNotFoundException");
}

TEST_F(AwsCalls, EachRankOfSeveralHasAStream) {
  Json answers = row("a-1", "1970-01-01T00:00:02Z", "Completed");
  answers.update({{"jobs", {answers, row("a-10", "1970-01-01T00:00:03Z", "Completed")}},
                  {"ranks", 2},
                  {"output", (folder_.path() / "output.log").string()}});
  reply_ = answers;
  Json request = {{"logGroupName", "/aws/sagemaker/TrainingJobs"}, {"logStreamNamePrefix", "a-1/"}};
  const auto names = [&] {
    std::string all;
    const AwsAnswer answer = call("Logs_20140328.DescribeLogStreams", request);
    for (const auto& one : answer.body.at("logStreams")) all += one.at("logStreamName").get<std::string>() + " ";
    return all;
  };
  EXPECT_EQ(names(), "a-1/algo-1 a-1/algo-1-rank-0 a-1/algo-1-rank-1 ");
  request["logStreamNamePrefix"] = "a-";
  EXPECT_EQ(names(), "a-1/algo-1 a-10/algo-1 ") << "of many jobs the ranks are not asked for";
  std::filesystem::create_directory(folder_.path() / "ranks");
  std::ofstream(folder_.path() / "ranks/1.log") << "from one\n";
  Json events = {{"logGroupName", "/aws/sagemaker/TrainingJobs"}, {"logStreamName", "a-1/algo-1-rank-1"}};
  EXPECT_EQ(call("Logs_20140328.GetLogEvents", events).body.at("events").at(0).at("message"), "from one");
  for (const char* wrong : {"a-1/algo-1-rank-2", "a-1/algo-1-rank--1", "a-1/algo-1-rank-../1", "a-1/algo-2", "/"}) {
    events["logStreamName"] = wrong;
    EXPECT_EQ(code("Logs_20140328.GetLogEvents", events), "ResourceNotFoundException") << wrong;
  }
}

TEST_F(AwsCalls, ComponentsAreSearched) {
  reply_ =
      Json::parse(R"({"components": [{"name": "one", "display_name": "One", "run_name": null, "source": "/jobs/one",
      "status": "Completed", "message": null, "created": "1970-01-01T00:00:01Z", "changed": "1970-01-01T00:00:02Z",
      "start": null, "end": null, "trials": ["cnn"], "parameters": {"lr": 0.1, "opt": "adam"},
      "inputs": {"train": {"uri": "data", "media_type": null}}, "outputs": {},
      "metrics": {"loss": {"min": null, "max": null, "avg": null, "stddev": null, "last": "NaN", "count": 1,
                           "time": "1970-01-01T00:00:02Z"}}},
      {"name": "two"}]})");
  const Json expression = {{"Filters", {{{"Name", "Parameters.lr"}, {"Operator", "Exists"}}}}};
  const AwsAnswer answer = call("SageMaker.Search", {{"Resource", "ExperimentTrialComponent"},
                                                     {"SearchExpression", expression},
                                                     {"SortBy", "CreationTime"},
                                                     {"SortOrder", "Ascending"},
                                                     {"MaxResults", 1}});
  ASSERT_EQ(answer.status, 200u) << answer.body.dump();
  const OrderedJson& found = answer.body.at("Results").at(0).at("TrialComponent");
  EXPECT_EQ(found.at("Parameters").at("lr").at("NumberValue"), 0.1);
  EXPECT_EQ(found.at("Parameters").at("opt").at("StringValue"), "adam");
  EXPECT_EQ(found.at("Status").at("PrimaryStatus"), "Completed");
  EXPECT_EQ(found.at("CreationTime"), 1.0);
  EXPECT_EQ(found.at("Metrics").at(0).at("Count"), 1);
  EXPECT_FALSE(found.at("Metrics").at(0).contains("Max"));
  EXPECT_EQ(answer.body.at("NextToken"), "1");
  EXPECT_EQ(asked_, (std::vector<std::string>{"experiment", "search", "--expression=" + expression.dump(),
                                              "--sort-by=CreationTime", "--ascending", "--most=2"}));
  EXPECT_EQ(code("SageMaker.Search", {{"Resource", "Endpoint"}}), "ValidationException");
  EXPECT_EQ(code("SageMaker.Search", {{"Resource", "ExperimentTrialComponent"}, {"MaxResults", 101}}),
            "ValidationException");
}

}  // namespace
}  // namespace trainwarden::aws
