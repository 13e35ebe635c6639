#include "work/workspace/toolkit_variables.h"

#include <algorithm>
#include <cctype>

#include "core/base/bytes.h"
#include "core/base/hook_variables.h"
#include "core/base/job_variables.h"
#include "data/format/json.h"
#include "store/storage/location.h"

namespace trainwarden::workspace {
namespace {

using document::DocumentValue;
using format::Json;  // its names are sorted
using Kind = DocumentValue::Kind;

Json json_of(const DocumentValue& value) {
  switch (value.kind) {
    case Kind::kText: return value.text;
    case Kind::kInteger: return value.integer;
    case Kind::kNumber: return value.number;
    case Kind::kBoolean: return value.boolean;
    case Kind::kList: {
      Json list = Json::array();
      for (const DocumentValue& item : value.items) list.push_back(json_of(item));
      return list;
    }
    case Kind::kTable: {
      Json table = Json::object();
      for (const auto& [name, field] : value.fields) table[name] = json_of(field);
      return table;
    }
    case Kind::kNull:
    case Kind::kOther: return nullptr;
  }
  return nullptr;
}

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// As the toolkit writes a variable: a text as it is, nothing as nothing.
std::string variable_text(const DocumentValue& value) {
  if (value.is(Kind::kText)) return value.text;
  const Json json = json_of(value);
  return json.is_null() ? "" : text_of(json);
}

std::string capitals(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
  return name;
}

void set_named(std::map<std::string, std::string>& variables, const std::string& prefix, const std::string& name,
               const std::string& value) {
  std::string key = prefix + capitals(name);
  variables[key] = value;
  std::replace(key.begin(), key.end(), '-', '_');
  variables[key] = value;
}

Json channels_json(const jobs::JobSpec& spec) {
  Json channels = Json::object();
  for (const jobs::Channel& channel : spec.inputs) {
    const bool divided = channel.distribution == jobs::Distribution::kShardedByKey;
    Json config = {{"TrainingInputMode", "File"},
                   {"S3DistributionType", divided ? "ShardedByS3Key" : "FullyReplicated"},
                   {"RecordWrapperType", "None"}};
    if (!channel.content_type.empty()) config["ContentType"] = channel.content_type;
    channels[channel.name] = config;
  }
  return channels;
}

Json resources_json(const jobs::JobSpec& spec, const NodeSurroundings& surroundings) {
  const std::string interface = spec.resources.network_interface.empty() ? "lo" : spec.resources.network_interface;
  return {{"current_host", surroundings.host},
          {"hosts", surroundings.hosts},
          {"network_interface_name", interface},
          {"current_instance_type", spec.resources.profile},
          {"current_group_name", "homogeneousCluster"},
          {"instance_groups", Json::array({{{"instance_group_name", "homogeneousCluster"},
                                            {"instance_type", spec.resources.profile},
                                            {"hosts", surroundings.hosts}}})}};
}

Json hyperparameters_json(const jobs::JobSpec& spec) {
  Json all = Json::object();
  for (const auto& [name, value] : spec.hyperparameters) {
    if (!name.starts_with("sagemaker_")) all[name] = json_of(value);
  }
  return all;
}

std::string module_name(const std::string& entry_point) {
  return entry_point.ends_with(".py") ? entry_point.substr(0, entry_point.size() - 3) : entry_point;
}

using Variables = std::map<std::string, std::string>;

void set_folders(const JobLayout& layout, Variables& variables) {
  variables["SM_INPUT_DIR"] = layout.input.string();
  variables["SM_INPUT_CONFIG_DIR"] = layout.input_config.string();
  variables["SM_OUTPUT_DIR"] = layout.output.string();
  variables["SM_OUTPUT_DATA_DIR"] = layout.output_data.string();
  variables["SM_OUTPUT_INTERMEDIATE_DIR"] = layout.intermediate.string();
  variables["SM_MODEL_DIR"] = layout.model.string();
  variables["SM_MODULE_DIR"] = layout.code.string();
  variables[variable::kCheckpointDir] = layout.checkpoints.string();
  variables[variable::kModelDir] = layout.model.string();
  variables[variable::kOutputDir] = layout.output_data.string();
}

void set_machine(const jobs::JobSpec& spec, const NodeSurroundings& surroundings, Variables& variables) {
  const Json resources = resources_json(spec, surroundings);
  const Json& groups = resources.at("instance_groups");
  variables["SM_RESOURCE_CONFIG"] = text_of(resources);
  variables["SM_HOSTS"] = text_of(surroundings.hosts);
  variables["SM_CURRENT_HOST"] = surroundings.host;
  variables["SM_CURRENT_INSTANCE_TYPE"] = spec.resources.profile;
  variables["SM_CURRENT_INSTANCE_GROUP"] = "homogeneousCluster";
  variables["SM_CURRENT_INSTANCE_GROUP_HOSTS"] = text_of(surroundings.hosts);
  variables["SM_INSTANCE_GROUPS"] = R"(["homogeneousCluster"])";
  variables["SM_INSTANCE_GROUPS_DICT"] = text_of(Json{{"homogeneousCluster", groups.at(0)}});
  variables["SM_DISTRIBUTION_INSTANCE_GROUPS"] = "[]";
  variables["SM_IS_HETERO"] = "false";
  variables["SM_NETWORK_INTERFACE_NAME"] = resources.at("network_interface_name").get<std::string>();
  variables["SM_NUM_CPUS"] = std::to_string(surroundings.cpus);
  variables["SM_NUM_GPUS"] = std::to_string(surroundings.gpus);
  variables["SM_NUM_NEURONS"] = "0";
  if (spec.resources.threads_per_rank) {
    variables["OMP_NUM_THREADS"] = std::to_string(*spec.resources.threads_per_rank);
  }
  if (!spec.resources.network_interface.empty()) {
    for (const char* name : {"NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME"}) {
      variables[name] = spec.resources.network_interface;
    }
  }
}

void set_program(const jobs::JobSpec& spec, const NodeSurroundings& surroundings, Variables& variables) {
  variables["SM_USER_ENTRY_POINT"] = spec.entry_point;
  variables["SM_MODULE_NAME"] = module_name(spec.entry_point);
  variables["SM_FRAMEWORK_MODULE"] = "";
  variables["SM_FRAMEWORK_PARAMS"] = "{}";
  variables["SM_LOG_LEVEL"] = "20";
  variables["SM_USER_ARGS"] = text_of(surroundings.arguments);
  variables["SM_HPS"] = text_of(hyperparameters_json(spec));
  for (const auto& [name, value] : spec.hyperparameters) {
    if (!name.starts_with("sagemaker_")) set_named(variables, "SM_HP_", name, variable_text(value));
  }
}

// What it is trained with, as labels of its run: the run says so also where nobody knows of the job.
void set_labels(const jobs::JobSpec& spec, Variables& variables) {
  if (spec.hyperparameters.empty()) return;
  Json labels = Json::object();
  for (const auto& [name, value] : spec.hyperparameters) {
    if (!name.starts_with("sagemaker_")) labels[name] = variable_text(value);
  }
  variables[variable::kLabels] = text_of(labels);
}

void set_channels(const jobs::JobSpec& spec, const JobLayout& layout, Variables& variables) {
  Json names = Json::array();
  for (const jobs::Channel& channel : spec.inputs) {
    names.push_back(channel.name);
    set_named(variables, "SM_CHANNEL_", channel.name, (layout.input_data / channel.name).string());
  }
  std::sort(names.begin(), names.end());
  variables["SM_CHANNELS"] = text_of(names);
  variables["SM_INPUT_DATA_CONFIG"] = text_of(channels_json(spec));
}

// All of it once more, as one.
std::string training_env(const jobs::JobSpec& spec, const NodeSurroundings& surroundings, const Variables& variables) {
  Json channels = Json::object();
  for (const jobs::Channel& channel : spec.inputs) {
    channels[channel.name] = variables.at("SM_INPUT_DIR") + "/data/" + channel.name;
  }
  return text_of(Json{{"additional_framework_parameters", Json::object()},
                      {"channel_input_dirs", channels},
                      {"current_host", surroundings.host},
                      {"hosts", surroundings.hosts},
                      {"hyperparameters", hyperparameters_json(spec)},
                      {"input_config_dir", variables.at("SM_INPUT_CONFIG_DIR")},
                      {"input_data_config", channels_json(spec)},
                      {"input_dir", variables.at("SM_INPUT_DIR")},
                      {"is_master", surroundings.host == surroundings.hosts.front()},
                      {"log_level", 20},
                      {"master_hostname", surroundings.hosts.front()},
                      {"model_dir", variables.at("SM_MODEL_DIR")},
                      {"module_dir", variables.at("SM_MODULE_DIR")},
                      {"module_name", variables.at("SM_MODULE_NAME")},
                      {"network_interface_name", variables.at("SM_NETWORK_INTERFACE_NAME")},
                      {"num_cpus", surroundings.cpus},
                      {"num_gpus", surroundings.gpus},
                      {"output_data_dir", variables.at("SM_OUTPUT_DATA_DIR")},
                      {"output_dir", variables.at("SM_OUTPUT_DIR")},
                      {"output_intermediate_dir", variables.at("SM_OUTPUT_INTERMEDIATE_DIR")},
                      {"resource_config", resources_json(spec, surroundings)},
                      {"user_entry_point", spec.entry_point}});
}

}  // namespace

std::map<std::string, std::string> toolkit_variables(const jobs::JobSpec& spec, const JobLayout& layout,
                                                     const NodeSurroundings& surroundings) {
  Variables variables;
  set_folders(layout, variables);
  set_machine(spec, surroundings, variables);
  set_program(spec, surroundings, variables);
  set_labels(spec, variables);
  set_channels(spec, layout, variables);
  variables["SM_TRAINING_ENV"] = training_env(spec, surroundings, variables);
  return variables;
}

Status write_config_files(const jobs::JobSpec& spec, const JobLayout& layout, const NodeSurroundings& surroundings) {
  const storage::Location config(layout.input_config);
  const auto write = [&](const char* file, const Json& json) {
    return config.storage().replace(file, as_bytes(text_of(json) + "\n"));
  };
  TRAINWARDEN_RETURN_IF_ERROR(config.storage().create_folder(""));
  Json texts = Json::object();  // each value is JSON within a text, as the service hands them on
  for (const auto& [name, value] : spec.hyperparameters) texts[name] = text_of(json_of(value));
  TRAINWARDEN_RETURN_IF_ERROR(write("hyperparameters.json", texts));
  TRAINWARDEN_RETURN_IF_ERROR(write("inputdataconfig.json", channels_json(spec)));
  return write("resourceconfig.json", resources_json(spec, surroundings));
}

}  // namespace trainwarden::workspace
