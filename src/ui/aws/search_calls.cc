// Search: components of experiments, and DescribeTrialComponent, which has the same shape.
#include <fmt/format.h>

#include "core/base/text.h"
#include "ui/aws/aws_calls.h"

namespace trainwarden::aws {
namespace {

using format::Json;
using format::OrderedJson;

constexpr const char* kComponents = "ExperimentTrialComponent";
constexpr std::int64_t kMostFound = 100;

void add_text(OrderedJson& json, const char* field, const Json& value) {
  if (value.is_string()) json[field] = value;
}

void add_moment(OrderedJson& json, const char* field, const Json& value) {
  if (value.is_string()) json[field] = seconds_of(value.get<std::string>());
}

OrderedJson parameters_json(const Json& parameters) {
  OrderedJson json = OrderedJson::object();
  for (const auto& [name, value] : parameters.items()) {
    json[name] = {{value.is_number() ? "NumberValue" : "StringValue", value}};
  }
  return json;
}

OrderedJson artifacts_json(const Json& artifacts) {
  OrderedJson json = OrderedJson::object();
  for (const auto& [name, use] : artifacts.items()) {
    json[name] = {{"Value", use.at("uri")}};
    add_text(json[name], "MediaType", use.at("media_type"));
  }
  return json;
}

OrderedJson metrics_json(const Json& metrics) {
  constexpr std::pair<const char*, const char*> kFields[] = {{"Max", "max"}, {"Min", "min"},       {"Last", "last"},
                                                             {"Avg", "avg"}, {"StdDev", "stddev"}, {"Count", "count"}};
  OrderedJson list = OrderedJson::array();
  for (const auto& [name, summary] : metrics.items()) {
    OrderedJson json = {{"MetricName", name}};
    for (const auto& [field, ours] : kFields) {
      if (!summary.at(ours).is_null()) json[field] = summary.at(ours);
    }
    add_moment(json, "TimeStamp", summary.at("time"));
    list.push_back(std::move(json));
  }
  return list;
}

// As `experiment search --json` has it.
OrderedJson component_shape(const Json& found) {
  const std::string name = found.at("name").get<std::string>();
  OrderedJson json = {{"TrialComponentName", name},
                      {"TrialComponentArn", "arn:aws:sagemaker:local:000000000000:experiment-trial-component/" + name}};
  add_text(json, "DisplayName", found.at("display_name"));
  add_text(json, "RunName", found.at("run_name"));
  if (found.at("source").is_string()) json["Source"] = {{"SourceArn", found.at("source")}};
  add_text(json["Status"], "PrimaryStatus", found.at("status"));
  add_text(json["Status"], "Message", found.at("message"));
  if (json["Status"].is_null()) json.erase("Status");
  add_moment(json, "CreationTime", found.at("created"));
  add_moment(json, "LastModifiedTime", found.at("changed"));
  add_moment(json, "StartTime", found.at("start"));
  add_moment(json, "EndTime", found.at("end"));
  json["Parameters"] = parameters_json(found.at("parameters"));
  json["InputArtifacts"] = artifacts_json(found.at("inputs"));
  json["OutputArtifacts"] = artifacts_json(found.at("outputs"));
  json["Metrics"] = metrics_json(found.at("metrics"));
  for (const Json& trial : found.at("trials")) json["Parents"].push_back({{"TrialName", trial}});
  return json;
}

Result<AwsAnswer> find_components(const Json& request, const AwsContext& context) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string resource, text_or(request, "Resource", ""));
  if (resource != kComponents) {
    return Status(Code::kInvalidArgument,
                  fmt::format("Resource: expected {}, found \"{}\"", kComponents, printable(resource.substr(0, 200))));
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string sort_by, text_or(request, "SortBy", ""));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string order, text_or(request, "SortOrder", "Descending"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t most, number_or(request, "MaxResults", 10));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string token, text_or(request, "NextToken", "0"));
  const auto begin = parse_int(token);
  if (!begin || *begin < 0 || *begin > 10'000 || most < 1 || most > kMostFound) {
    return Status(Code::kInvalidArgument, "expected MaxResults from 1 to 100, and a NextToken of this server");
  }
  std::vector<std::string> words = {
      "experiment", "search", "--expression=" + format::dump_json(request.value("SearchExpression", Json::object()))};
  if (!sort_by.empty()) words.push_back("--sort-by=" + sort_by);
  if (order == "Ascending") words.emplace_back("--ascending");
  words.push_back(fmt::format("--most={}", *begin + most + 1));
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json found, context.ask(words));
  AwsAnswer answer;
  OrderedJson& results = answer.body["Results"] = OrderedJson::array();
  const Json& components = found.at("components");
  const auto end = static_cast<std::size_t>(*begin + most);
  for (auto i = static_cast<std::size_t>(*begin); i < std::min(end, components.size()); ++i) {
    results.push_back({{"TrialComponent", component_shape(components.at(i))}});
  }
  if (components.size() > end) answer.body["NextToken"] = std::to_string(end);
  return answer;
}

AwsAnswer search(const Json& request, const AwsContext& context) {
  const auto answer = find_components(request, context);
  return answer.ok() ? *answer : aws_error(answer.status());
}

AwsAnswer describe_component(const Json& request, const AwsContext& context) {
  const auto name = text_or(request, "TrialComponentName", "");
  if (!name.ok()) return aws_error(name.status());
  const auto found = context.ask({"experiment", "show", "--kind", "component", "--", *name});
  return found.ok() ? AwsAnswer{200, component_shape(*found)} : aws_error(found.status());
}

}  // namespace

std::vector<NamedCall> search_calls() {
  return {{"SageMaker.Search", search}, {"SageMaker.DescribeTrialComponent", describe_component}};
}

}  // namespace trainwarden::aws
