#include "work/sagemaker/job_request.h"

#include <filesystem>

#include "work/document/document.h"
#include "work/jobs/hyperparameters.h"
#include "work/log_metrics/definition.h"

namespace trainwarden::sagemaker {
namespace {

namespace fs = std::filesystem;
using format::OrderedJson;

constexpr std::uint64_t kBytesInGiB = 1u << 30;

std::string address_beside(const std::string& address, const fs::path& folder) {
  if (address.empty() || address.find("://") != std::string::npos) return address;
  return (folder / address).lexically_normal().string();
}

OrderedJson algorithm_json(const jobs::JobSpec& spec) {
  OrderedJson json = OrderedJson::object();
  if (!spec.image.empty()) json["TrainingImage"] = spec.image;
  const bool is_fast = !spec.inputs.empty() && spec.inputs.front().mode == jobs::InputMode::kFastFile;
  json["TrainingInputMode"] = is_fast ? "FastFile" : "File";
  for (const log_metrics::MetricDefinition& metric : spec.metrics.definitions) {
    json["MetricDefinitions"].push_back({{"Name", metric.name}, {"Regex", metric.regex}});
  }
  return json;
}

OrderedJson channel_json(const jobs::Channel& channel, const fs::path& folder) {
  const bool is_divided = channel.distribution == jobs::Distribution::kShardedByKey;
  OrderedJson json = {{"ChannelName", channel.name},
                      {"DataSource",
                       {{"S3DataSource",
                         {{"S3DataType", "S3Prefix"},
                          {"S3Uri", address_beside(channel.source, folder)},
                          {"S3DataDistributionType", is_divided ? "ShardedByS3Key" : "FullyReplicated"}}}}}};
  if (!channel.content_type.empty()) json["ContentType"] = channel.content_type;
  json["InputMode"] = channel.mode == jobs::InputMode::kFastFile ? "FastFile" : "File";
  return json;
}

OrderedJson resources_json(const jobs::Resources& resources) {
  OrderedJson json = {{"InstanceCount", resources.nodes},
                      {"InstanceType", resources.profile.empty() ? "local" : resources.profile}};
  if (resources.volume_bytes) json["VolumeSizeInGB"] = *resources.volume_bytes / kBytesInGiB;
  return json;
}

OrderedJson limits_json(const jobs::Limits& limits) {
  const auto seconds = [](double value) { return static_cast<std::int64_t>(value); };
  OrderedJson json = {{"MaxRuntimeInSeconds", seconds(limits.max_run_seconds)}};
  if (limits.max_wait_seconds) json["MaxWaitTimeInSeconds"] = seconds(*limits.max_wait_seconds);
  if (limits.max_pending_seconds) json["MaxPendingTimeInSeconds"] = seconds(*limits.max_pending_seconds);
  return json;
}

OrderedJson checkpoints_json(const jobs::Checkpoints& checkpoints, const fs::path& folder) {
  OrderedJson json = OrderedJson::object();
  if (!checkpoints.path.empty()) json["S3Uri"] = address_beside(checkpoints.path, folder);
  if (!checkpoints.local.empty()) json["LocalPath"] = checkpoints.local;
  return json;
}

OrderedJson experiment_json(const jobs::Experiment& experiment) {
  OrderedJson json = OrderedJson::object();
  if (!experiment.experiment.empty()) json["ExperimentName"] = experiment.experiment;
  if (!experiment.trial.empty()) json["TrialName"] = experiment.trial;
  if (!experiment.run.empty()) json["RunName"] = experiment.run;
  return json;
}

Result<OrderedJson> read_beside_request(const jobs::JobRecord& job, const std::string& folder, const char* file) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string text, job.place().storage().read(folder + "/" + file));
  TRAINWARDEN_ASSIGN_OR_RETURN(OrderedJson json, format::parse_json_object(text, file));
  return json;
}

// The file has no address for results: nothing that runs asks for it.
OrderedJson profiled_as(const OrderedJson& now, const OrderedJson& request) {
  constexpr const char* kAddress = "S3OutputPath";
  const auto before = request.find("ProfilerConfig");
  OrderedJson config = OrderedJson::object();
  if (before != request.end() && before->is_object() && before->contains(kAddress)) {
    config[kAddress] = before->at(kAddress);
  }
  config.update(now);
  return config;
}

}  // namespace

Result<jobs::JobSpec> spec_of(const jobs::JobRecord& job) {
  const Result<document::DocumentValue> top = document::parse(job.order().spec, job.order().spec_file);
  if (!top.ok()) return Status(Code::kDataLoss, job.order().name + ": its text is damaged: " + top.status().message());
  document::Mistakes told;
  return jobs::read_job_spec(*top, told);
}

OrderedJson request_of(const jobs::JobRecord& job, const jobs::JobSpec& spec) {
  const fs::path folder = fs::path(job.order().spec_file).parent_path();
  const std::string name = folder.filename().string();
  if (name.starts_with(kRequestPrefix)) {
    auto request = read_beside_request(job, name, kRequestFile);
    const auto profiled = read_beside_request(job, name, kProfilerFile);
    if (request.ok() && profiled.ok()) {
      OrderedJson config = profiled_as(*profiled, *request);
      request->erase("ProfilerConfig");
      if (!config.empty()) (*request)["ProfilerConfig"] = std::move(config);
    }
    if (request.ok()) return *std::move(request);
  }
  return request_of_spec(spec, folder);
}

OrderedJson request_of_spec(const jobs::JobSpec& spec, const fs::path& folder) {
  OrderedJson request = OrderedJson::object();
  for (const auto& [name, value] : spec.hyperparameters) {
    request["HyperParameters"][name] = jobs::argument_text(value);
  }
  request["AlgorithmSpecification"] = algorithm_json(spec);
  for (const jobs::Channel& channel : spec.inputs) request["InputDataConfig"].push_back(channel_json(channel, folder));
  if (!spec.output_dir.empty()) request["OutputDataConfig"]["S3OutputPath"] = address_beside(spec.output_dir, folder);
  request["ResourceConfig"] = resources_json(spec.resources);
  request["StoppingCondition"] = limits_json(spec.limits);
  request["EnableManagedSpotTraining"] = spec.resources.preemptible;
  request["CheckpointConfig"] = checkpoints_json(spec.checkpoints, folder);
  request["ExperimentConfig"] = experiment_json(spec.experiment);
  request["Environment"] = spec.environment;
  if (spec.limits.retries > 0) request["RetryStrategy"]["MaximumRetryAttempts"] = spec.limits.retries;
  if (spec.hook) request["DebugHookConfig"] = OrderedJson::object();
  if (spec.hook && !spec.mirror.empty()) request["DebugHookConfig"]["S3OutputPath"] = spec.mirror;
  if (!spec.tensorboard.empty()) {
    request["TensorBoardOutputConfig"]["S3OutputPath"] = address_beside(spec.tensorboard, folder);
  }
  for (const char* field : {"CheckpointConfig", "ExperimentConfig", "Environment"}) {
    if (request[field].empty()) request.erase(field);
  }
  return request;
}

std::string joined(std::string_view address, std::string_view path) {
  while (address.ends_with('/')) address.remove_suffix(1);
  return std::string(address) + "/" + std::string(path);
}

}  // namespace trainwarden::sagemaker
