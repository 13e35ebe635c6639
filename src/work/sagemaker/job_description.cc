#include "work/sagemaker/job_description.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "core/base/rfc3339.h"
#include "core/base/text.h"
#include "react/events/description.h"
#include "read/trial/run_listing.h"
#include "store/storage/location.h"
#include "work/sagemaker/job_request.h"
#include "work/sagemaker/rule_evaluations.h"
#include "work/workspace/layout.h"

namespace trainwarden::sagemaker {
namespace {

namespace fs = std::filesystem;
using format::OrderedJson;
using jobs::Transition;

constexpr std::int64_t kSecond = 1'000'000'000;
// Of the request, what a description has under the same name, and of which kind it is: the request's file is no more
// trusted than the folder that it lies in.
struct RequestField {
  const char* name;
  OrderedJson::value_t kind = OrderedJson::value_t::object;
};
constexpr RequestField kAsRequested[] = {{"HyperParameters"},
                                         {"AlgorithmSpecification"},
                                         {"RoleArn", OrderedJson::value_t::string},
                                         {"InputDataConfig", OrderedJson::value_t::array},
                                         {"OutputDataConfig"},
                                         {"ResourceConfig"},
                                         {"StoppingCondition"},
                                         {"CheckpointConfig"},
                                         {"DebugHookConfig"},
                                         {"DebugRuleConfigurations", OrderedJson::value_t::array},
                                         {"ProfilerConfig"},
                                         {"ProfilerRuleConfigurations", OrderedJson::value_t::array},
                                         {"TensorBoardOutputConfig"},
                                         {"ExperimentConfig"},
                                         {"Environment"},
                                         {"RetryStrategy"},
                                         {"ProcessingInputs", OrderedJson::value_t::array},
                                         {"ProcessingOutputConfig"},
                                         {"AppSpecification"},
                                         {"ProcessingResources"},
                                         {"NetworkConfig"}};

std::string moment(std::int64_t unix_ns) {
  return format_rfc3339(unix_ns, 3);
}

// Empty while there is no run: the program has not opened its hook yet, or never will.
Result<OrderedJson> describe_run_of(const jobs::JobOrder& order) {
  if (!trial::is_run(order.run)) return OrderedJson::object();
  return events::describe_run(storage::Location(order.run));
}

OrderedJson transitions_json(const std::vector<Transition>& transitions) {
  OrderedJson list = OrderedJson::array();
  for (std::size_t i = 0; i < transitions.size(); ++i) {
    OrderedJson json = {{"Status", name(transitions[i].status)}, {"StartTime", moment(transitions[i].unix_ns)}};
    if (i + 1 < transitions.size()) json["EndTime"] = moment(transitions[i + 1].unix_ns);
    json["StatusMessage"] = transitions[i].message;
    list.push_back(std::move(json));
  }
  return list;
}

// Billed is what its program ran; between attempts it waits.
void add_times(const jobs::JobOrder& order, const std::vector<Transition>& transitions, OrderedJson& json) {
  const Transition& now = transitions.back();
  json["CreationTime"] = moment(order.submitted_unix_ns);
  json["LastModifiedTime"] = moment(now.unix_ns);
  json["SecondaryStatusTransitions"] = transitions_json(transitions);
  const auto started = std::find_if(transitions.begin(), transitions.end(),
                                    [](const Transition& one) { return one.status == jobs::JobPhase::kStarting; });
  if (started == transitions.end()) return;
  json["TrainingStartTime"] = moment(started->unix_ns);
  if (!jobs::is_terminal(now.status)) return;
  json["TrainingEndTime"] = moment(now.unix_ns);
  json["TrainingTimeInSeconds"] = (now.unix_ns - started->unix_ns) / kSecond;
  json["BillableTimeInSeconds"] = jobs::run_ns_of(transitions, now.unix_ns) / kSecond;
}

std::string output_path_of(const OrderedJson& description) {
  const auto output = description.find("OutputDataConfig");
  if (output == description.end() || !output->contains("S3OutputPath")) return "";
  const OrderedJson& path = output->at("S3OutputPath");
  return path.is_string() ? path.get<std::string>() : "";
}

// Where the packed model is, once it is there.
void add_model(const jobs::JobRecord& job, const jobs::JobSpec& spec, OrderedJson& json) {
  const auto layout = workspace::layout_of(job, spec);
  if (!layout.ok()) return;  // its bucket is no folder here
  const fs::path model = layout->results / "model.tar.gz";
  const storage::Location results(layout->results);
  if (!results.storage().exists("model.tar.gz")) return;
  const std::string output = output_path_of(json);
  const std::string within = job.order().name + "/output/model.tar.gz";
  json["ModelArtifacts"]["S3ModelArtifacts"] = output.empty() ? model.string() : joined(output, within);
}

OrderedJson final_metrics_json(const OrderedJson& run) {
  OrderedJson list = OrderedJson::array();
  for (const OrderedJson& metric : run.value("FinalMetricDataList", OrderedJson::array())) {
    OrderedJson json = OrderedJson::object();
    for (const char* field : {"MetricName", "Value", "Timestamp"}) {
      if (metric.contains(field)) json[field] = metric.at(field);
    }
    list.push_back(std::move(json));
  }
  return list;
}

void add_what_is_watched(const jobs::JobRecord& job, const OrderedJson& request, const OrderedJson& run,
                         const Transition& now, OrderedJson& json) {
  if (json.contains("DebugHookConfig")) {
    OrderedJson& hook = json["DebugHookConfig"];
    hook["LocalPath"] = job.order().run;
    if (!hook.contains("CollectionConfigurations") && run.contains("DebugHookConfig")) {
      hook["CollectionConfigurations"] = run.at("DebugHookConfig").at("CollectionConfigurations");
    }
  }
  if (!json.contains("DebugRuleConfigurations") && !json.contains("ProfilerRuleConfigurations") &&
      !run.value("DebugRuleConfigurations", OrderedJson()).empty()) {
    json["DebugRuleConfigurations"] = run.at("DebugRuleConfigurations");
  }
  if (OrderedJson rules = rule_evaluations(request, run, now); !rules.empty()) {
    json["DebugRuleEvaluationStatuses"] = std::move(rules);
  }
  if (OrderedJson rules = profiler_rule_evaluations(request, run, now); !rules.empty()) {
    json["ProfilerRuleEvaluationStatuses"] = std::move(rules);
  }
  if (OrderedJson metrics = final_metrics_json(run); !metrics.empty()) {
    json["FinalMetricDataList"] = std::move(metrics);
  }
  const OrderedJson profiler = request.value("ProfilerConfig", OrderedJson::object());
  const bool disabled =
      profiler.is_object() && profiler.value("DisableProfiler", OrderedJson(false)) == OrderedJson(true);
  json["ProfilingStatus"] = disabled ? "Disabled" : "Enabled";
}

}  // namespace

std::string training_job_arn(std::string_view region, std::string_view job) {
  return fmt::format("arn:aws:sagemaker:{}:000000000000:training-job/{}", region, lower(job));
}

Result<OrderedJson> describe_training_job(const jobs::JobRecord& job, const std::vector<Transition>& transitions,
                                          std::string_view region) {
  const jobs::JobOrder& order = job.order();
  const Transition& now = transitions.back();
  TRAINWARDEN_ASSIGN_OR_RETURN(const jobs::JobSpec spec, spec_of(job));
  TRAINWARDEN_ASSIGN_OR_RETURN(const OrderedJson run, describe_run_of(order));
  const OrderedJson request = request_of(job, spec);
  OrderedJson json = {{"TrainingJobName", order.name},
                      {"TrainingJobArn", training_job_arn(region, order.name)},
                      {"TrainingJobStatus", name(jobs::status_of(now.status))},
                      {"SecondaryStatus", name(now.status)}};
  if (now.status == jobs::JobPhase::kFailed) json["FailureReason"] = now.message;
  for (const RequestField& field : kAsRequested) {
    const auto requested = request.find(field.name);
    if (requested != request.end() && requested->type() == field.kind) json[field.name] = *requested;
  }
  add_model(job, spec, json);
  add_times(order, transitions, json);
  json["EnableNetworkIsolation"] = false;
  json["EnableInterContainerTrafficEncryption"] = false;
  json["EnableManagedSpotTraining"] = spec.resources.preemptible;
  add_what_is_watched(job, request, run, now, json);
  return json;
}

}  // namespace trainwarden::sagemaker
