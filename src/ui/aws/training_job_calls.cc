// CreateTrainingJob, DescribeTrainingJob, ListTrainingJobs, StopTrainingJob.
#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"
#include "ui/aws/aws_calls.h"

namespace trainwarden::aws {
namespace {

using format::Json;
using format::OrderedJson;

constexpr std::int64_t kMostResults = 100;

// Never an option: the program takes what follows "--" as it is.
Result<std::string> job_name_of(const Json& request) {
  TRAINWARDEN_ASSIGN_OR_RETURN(std::string name, text_or(request, "TrainingJobName", ""));
  if (name.empty()) return Status(Code::kInvalidArgument, "TrainingJobName: expected the name of a job, found none");
  return name;
}

std::string arn_of(const std::string& job) {
  return "arn:aws:sagemaker:local:000000000000:training-job/" + lower(job);
}

// The program reads the request itself, and refuses what it does not know.
AwsAnswer create_job(const Json& request, const AwsContext& context) {
  if (const auto name = job_name_of(request); !name.ok()) return aws_error(name.status());
  const auto submitted = context.ask({"submit", "--format", "sagemaker", "-"}, request.dump());
  if (!submitted.ok()) return aws_error(submitted.status());
  return {200, {{"TrainingJobArn", arn_of(submitted->at("job").get<std::string>())}}};
}

AwsAnswer describe_job(const Json& request, const AwsContext& context) {
  const auto name = job_name_of(request);
  if (!name.ok()) return aws_error(name.status());
  const auto found = context.ask({"job", "describe", "--format", "sagemaker", "--", *name});
  if (!found.ok()) return aws_error(found.status());
  AwsAnswer answer{200, *found};
  write_times_as_seconds(answer.body);
  return answer;
}

AwsAnswer stop_job(const Json& request, const AwsContext& context) {
  const auto name = job_name_of(request);
  if (!name.ok()) return aws_error(name.status());
  const auto stopped = context.ask({"job", "stop", "--", *name});
  return stopped.ok() ? AwsAnswer() : aws_error(stopped.status());
}

struct JobListing {
  std::string name_contains;
  std::string status;
  std::optional<std::int64_t> after;
  std::optional<std::int64_t> before;
  std::string sort_by;
  bool ascending = false;
  std::size_t begin = 0;
  std::size_t most = 0;
};

Status one_of(const char* field, const std::string& found, std::initializer_list<std::string_view> words) {
  if (std::find(words.begin(), words.end(), found) != words.end()) return Status();
  return Status(Code::kInvalidArgument,
                fmt::format("{}: expected {}, found \"{}\"", field, fmt::join(words, ", "), printable(found)));
}

Result<JobListing> read_listing(const Json& request) {
  JobListing listing;
  TRAINWARDEN_ASSIGN_OR_RETURN(listing.name_contains, text_or(request, "NameContains", ""));
  TRAINWARDEN_ASSIGN_OR_RETURN(listing.status, text_or(request, "StatusEquals", ""));
  TRAINWARDEN_ASSIGN_OR_RETURN(listing.after, time_of(request, "CreationTimeAfter"));
  TRAINWARDEN_ASSIGN_OR_RETURN(listing.before, time_of(request, "CreationTimeBefore"));
  TRAINWARDEN_ASSIGN_OR_RETURN(listing.sort_by, text_or(request, "SortBy", "CreationTime"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string order, text_or(request, "SortOrder", "Descending"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t most, number_or(request, "MaxResults", 10));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string token, text_or(request, "NextToken", "0"));
  TRAINWARDEN_RETURN_IF_ERROR(one_of("SortBy", listing.sort_by, {"CreationTime", "Name", "Status"}));
  TRAINWARDEN_RETURN_IF_ERROR(one_of("SortOrder", order, {"Ascending", "Descending"}));
  const auto begin = parse_int(token);
  if (most < 1 || most > kMostResults || !begin || *begin < 0) {
    return Status(Code::kInvalidArgument, "expected MaxResults from 1 to 100, and a NextToken of this server");
  }
  listing.ascending = order == "Ascending";
  listing.begin = static_cast<std::size_t>(*begin);
  listing.most = static_cast<std::size_t>(most);
  return listing;
}

// Of the rows of `job ls`.
bool is_listed(const Json& row, const JobListing& listing) {
  if (row.contains("unreadable")) return false;
  const double submitted = seconds_of(row.at("submitted").get<std::string>());
  return row.at("name").get<std::string>().find(listing.name_contains) != std::string::npos &&
         (listing.status.empty() || row.at("status") == listing.status) &&
         (!listing.after || submitted > static_cast<double>(*listing.after) / 1e9) &&
         (!listing.before || submitted < static_cast<double>(*listing.before) / 1e9);
}

OrderedJson summary_of(const Json& row) {
  const std::string name = row.at("name").get<std::string>();
  const double changed = seconds_of(row.at("time").get<std::string>());
  OrderedJson json = {{"TrainingJobName", name},
                      {"TrainingJobArn", arn_of(name)},
                      {"CreationTime", seconds_of(row.at("submitted").get<std::string>())},
                      {"LastModifiedTime", changed},
                      {"TrainingJobStatus", row.at("status")},
                      {"SecondaryStatus", row.at("secondary_status")}};
  for (const char* const ended : {"Completed", "Failed", "Stopped"}) {
    if (row.at("status") == ended) json["TrainingEndTime"] = changed;
  }
  return json;
}

AwsAnswer list_jobs(const Json& request, const AwsContext& context) {
  const auto listing = read_listing(request);
  if (!listing.ok()) return aws_error(listing.status());
  const auto listed = context.ask({"job", "ls"});
  if (!listed.ok()) return aws_error(listed.status());
  std::vector<Json> rows;
  for (const Json& row : listed->at("jobs")) {
    if (is_listed(row, *listing)) rows.push_back(row);
  }
  const char* const key = listing->sort_by == "Name" ? "name" : listing->sort_by == "Status" ? "status" : "submitted";
  std::stable_sort(rows.begin(), rows.end(), [&](const Json& a, const Json& b) {
    return listing->ascending ? a.at(key) < b.at(key) : b.at(key) < a.at(key);
  });
  AwsAnswer answer;
  answer.body["TrainingJobSummaries"] = OrderedJson::array();
  const std::size_t begin = std::min(listing->begin, rows.size());
  const std::size_t end = std::min(begin + listing->most, rows.size());
  for (std::size_t i = begin; i < end; ++i) answer.body["TrainingJobSummaries"].push_back(summary_of(rows[i]));
  if (end < rows.size()) answer.body["NextToken"] = std::to_string(end);
  return answer;
}

}  // namespace

std::vector<NamedCall> training_job_calls() {
  return {{"SageMaker.CreateTrainingJob", create_job, Right::kSubmit},
          {"SageMaker.DescribeTrainingJob", describe_job},
          {"SageMaker.ListTrainingJobs", list_jobs},
          {"SageMaker.StopTrainingJob", stop_job, Right::kAct}};
}

}  // namespace trainwarden::aws
