#include "work/sagemaker/request_files.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"
#include "work/document/document_json.h"
#include "work/jobs/job_spec.h"
#include "work/sagemaker/job_request.h"
#include "work/sagemaker/request_parts.h"

namespace trainwarden::sagemaker {
namespace {

namespace fs = std::filesystem;
using document::DocumentField;
using document::DocumentValue;
using document::TableReader;
using format::OrderedJson;
using Kind = DocumentValue::Kind;

constexpr const char* kScript = "sagemaker_program";
constexpr const char* kSources = "sagemaker_submit_directory";
constexpr const char* kDependencies = "sagemaker_dependencies";
constexpr std::int64_t kMaxVolumeGB = 1 << 30;
constexpr std::uint64_t kBytesInGB = 1u << 30;

constexpr const char* kNetwork = "a job has the network of this machine; leave it out";
constexpr const char* kOneKind = "a job has one kind of node; leave it out";
constexpr const char* kEncryption = "nothing leaves this machine; encrypt the disk";

// Clients write values as JSON; a text that is none is itself. What JSON cannot say is as Python prints it.
OrderedJson decoded(const std::string& text) {
  if (text == "NaN") return "nan";
  if (text == "Infinity" || text == "-Infinity") return text.front() == '-' ? "-inf" : "inf";
  const auto parsed = format::parse_json_object(fmt::format("{{\"value\": {}\n}}", text), "a value");
  if (!parsed.ok() || parsed->size() != 1) return text;
  return OrderedJson(parsed->at("value"));
}

OrderedJson read_hyperparameters(TableReader& request, RequestReading& reading) {
  OrderedJson values = OrderedJson::object();
  const DocumentValue* const table = request.table({"HyperParameters"});
  if (table == nullptr) return values;
  for (const DocumentField& field : table->fields) {
    if (field.value.is(Kind::kText)) {
      values[field.name] = decoded(field.value.text);
    } else {
      reading.mistakes.add(field.value.place,
                           fmt::format("HyperParameters: expected texts, found {}", document::name(field.value.kind)));
    }
  }
  return values;
}

// A program of the folder, and none of PATH.
std::string in_its_folder(const std::string& script) {
  const bool is_plain = script.find('/') == std::string::npos && !script.ends_with(".py");
  return is_plain ? "./" + script : script;
}

// The script with its folder. One without a folder comes alone, as in SageMaker's containers.
void read_script(const OrderedJson& hyperparameters, const TableReader& request, RequestReading& reading) {
  const OrderedJson script = hyperparameters.value(kScript, OrderedJson());
  const auto wrong = [&](const std::string& what) { reading.mistakes.add(request.place(), what); };
  if (!script.is_string() || script.get<std::string>().empty()) {
    return wrong(
        "expected entry_point, the script that trains (in a request: the hyper-parameter sagemaker_program), or "
        "AlgorithmSpecification.ContainerEntrypoint");
  }
  const OrderedJson sources = hyperparameters.value(kSources, OrderedJson());
  const OrderedJson dependencies = hyperparameters.value(kDependencies, OrderedJson());
  if (!dependencies.is_null()) reading.job["dependencies"] = dependencies;
  std::error_code ignored;
  if (sources.is_null()) {
    const fs::path file = absolute_address(script.get<std::string>(), reading);
    if (!fs::is_regular_file(file, ignored)) return wrong("entry_point: there is no file " + printable(file.string()));
    reading.files.script = file.string();
    reading.job["entry_point"] = in_its_folder(file.filename().string());
    reading.job["source_dir"] = (reading.files.folder / kCodeFolder).string();
    return;
  }
  const std::string folder = sources.is_string() ? absolute_address(sources.get<std::string>(), reading) : "";
  if (!fs::is_directory(folder, ignored)) {
    return wrong(fmt::format("source_dir: expected a folder, found nothing at {}",
                             printable(sources.is_string() ? folder : sources.dump())));
  }
  reading.job["entry_point"] = in_its_folder(script.get<std::string>());
  reading.job["source_dir"] = folder;
}

void add_if_any(const char* key, const std::vector<std::string>& words, OrderedJson& job) {
  if (!words.empty()) job[key] = words;
}

// How the program is started; returns the mode of channels that have none of their own.
std::string read_program(TableReader& request, const OrderedJson& hyperparameters, RequestReading& reading) {
  OrderedJson& job = reading.job;
  for (const auto& [name, value] : hyperparameters.items()) {
    if (!name.starts_with("sagemaker_")) job["hyperparameters"][name] = value;
  }
  std::string mode;
  bool has_program = false;
  if (const DocumentValue* const table = request.table({"AlgorithmSpecification"})) {
    TableReader algorithm(*table, reading.mistakes);
    if (const auto image = algorithm.text({"TrainingImage"}); image && !image->empty()) job["image"] = *image;
    mode = algorithm.text({"TrainingInputMode"}).value_or("");
    if (const auto* metrics = algorithm.take({"MetricDefinitions"})) job["metric_definitions"] = json_of(metrics);
    const std::vector<std::string> program = algorithm.texts({"ContainerEntrypoint"});
    has_program = !program.empty();
    add_if_any("program", program, job);
    add_if_any("arguments", algorithm.texts({"ContainerArguments"}), job);
    algorithm.boolean({"EnableSageMakerMetricsTimeSeries"});  // they are series of the run either way
    refuse_fields(algorithm, {{"AlgorithmName", "give a script, or ContainerEntrypoint"},
                              {"TrainingImageConfig", "log in with podman before"}});
    algorithm.refuse_rest();
  }
  if (!has_program || hyperparameters.contains(kScript)) read_script(hyperparameters, request, reading);
  return mode;
}

void read_resources(TableReader& request, RequestReading& reading) {
  OrderedJson& job = reading.job;
  if (const DocumentValue* const table = request.table({"ResourceConfig"})) {
    TableReader resources(*table, reading.mistakes);
    if (const auto* count = resources.take({"InstanceCount"})) job["instance_count"] = json_of(count);
    if (const auto* type = resources.take({"InstanceType"})) job["instance_type"] = json_of(type);
    read_volume(resources, reading);
    refuse_fields(resources, {{"VolumeKmsKeyId", kEncryption},
                              {"InstanceGroups", kOneKind},
                              {"InstancePlacementConfig", kOneKind},
                              {"TrainingPlanArn", kOneKind},
                              {"KeepAlivePeriodInSeconds", "this machine is not given back; leave it out"}});
    resources.refuse_rest();
  }
  if (const DocumentValue* const table = request.table({"Trainwarden"})) {  // no field of SageMaker's
    TableReader own(*table, reading.mistakes);
    for (const char* key : {"cpus", "gpus"}) {
      if (const auto* value = own.take({key})) job[key] = json_of(value);
    }
    own.refuse_rest();
  }
  if (request.boolean({"EnableManagedSpotTraining"}).value_or(false)) job["use_spot_instances"] = true;
  if (request.boolean({"EnableNetworkIsolation"}).value_or(false)) job["isolated_network"] = true;
}

void refuse_cloud(TableReader& request) {
  refuse_fields(request, {{"VpcConfig", kNetwork},
                          {"EnableInterContainerTrafficEncryption", kNetwork},
                          {"RemoteDebugConfig", "the program runs on this machine; attach a debugger to it"},
                          {"InfraCheckConfig", "`trainwarden job lint` checks this machine; leave it out"},
                          {"SessionChainingConfig", "there are no sessions to tag; leave it out"}});
}

std::string name_of(TableReader& request, const char* field, RequestReading& reading) {
  std::string name = request.text({field}).value_or("");
  if (!reading.places.job.empty()) name = reading.places.job;
  if (jobs::is_job_name(name)) return name;
  reading.mistakes.add(request.place(),
                       fmt::format("{}: expected letters and digits with single hyphens between them, {} "
                                   "at most, found \"{}\"",
                                   field, jobs::kMaxJobNameBytes, printable(name)));
  return "";
}

// A step that prepares or judges data is a job too.
bool is_processing(const DocumentValue& top) {
  return std::any_of(top.fields.begin(), top.fields.end(),
                     [](const DocumentField& field) { return field.name == "ProcessingJobName"; });
}

void read_names(TableReader& request, const char* field, RequestReading& reading) {
  reading.files.name = name_of(request, field, reading);
  reading.files.folder = reading.places.jobs / reading.files.name / reading.places.submission;
  reading.job["name"] = reading.files.name;
}

void read_training(TableReader& request, RequestReading& reading) {
  read_names(request, "TrainingJobName", reading);
  const OrderedJson hyperparameters = read_hyperparameters(request, reading);
  const std::string mode = read_program(request, hyperparameters, reading);
  read_data(request, mode, reading);
  read_resources(request, reading);
  read_numbers(request, "StoppingCondition",
               {{"MaxRuntimeInSeconds", "max_run"},
                {"MaxWaitTimeInSeconds", "max_wait"},
                {"MaxPendingTimeInSeconds", "max_pending"}},
               reading);
  read_numbers(request, "RetryStrategy", {{"MaximumRetryAttempts", "max_retry_attempts"}}, reading);
  OrderedJson environment = OrderedJson::object();
  read_watching(request, environment, reading);
  read_environment(request, environment);
  if (!environment.empty()) reading.job["environment"] = environment;
  read_records(request, reading);
  refuse_cloud(request);
}

bool says_nothing(const DocumentValue& value) {
  switch (value.kind) {
    case Kind::kText: return value.text.empty();
    case Kind::kBoolean: return !value.boolean;
    case Kind::kList: return value.items.empty();
    case Kind::kTable: return value.fields.empty();
    default: return value.is(Kind::kNull);
  }
}

}  // namespace

void read_volume(TableReader& table, RequestReading& reading) {
  const auto gigabytes = table.integer({"VolumeSizeInGB"}, 0, kMaxVolumeGB);
  if (!gigabytes || *gigabytes == 0) return;
  const std::uint64_t free = reading.places.free_disk_bytes / kBytesInGB;
  if (reading.places.free_disk_bytes == 0 || static_cast<std::uint64_t>(*gigabytes) <= free) {
    reading.job["volume_size"] = *gigabytes;
  } else {
    reading.files.notices.push_back(fmt::format(
        "volume_size: {} GB were asked for, {} GB are free here; the job starts nevertheless", *gigabytes, free));
  }
}

void read_numbers(TableReader& request, const char* field, std::initializer_list<NumberField> numbers,
                  RequestReading& reading) {
  const DocumentValue* const value = request.table({field});
  if (value == nullptr) return;
  TableReader table(*value, reading.mistakes);
  for (const NumberField& number : numbers) {
    if (const auto* found = table.take({number.name})) reading.job[number.key] = json_of(found);
  }
  table.refuse_rest();
}

void read_environment(TableReader& request, OrderedJson& environment) {
  const DocumentValue* const table = request.table({"Environment"});
  if (table == nullptr) return;
  for (const DocumentField& field : table->fields) environment[field.name] = json_of(&field.value);
}

void read_records(TableReader& request, RequestReading& reading) {
  if (const auto* tags = request.take({"Tags"})) reading.job["tags"] = json_of(tags);
  if (const auto* experiment = request.take({"ExperimentConfig"})) {
    reading.job["experiment_config"] = json_of(experiment);
  }
  request.text({"RoleArn"});  // describe shows it; the job runs as whoever submits it
}

void refuse_fields(TableReader& table, std::initializer_list<CloudField> fields) {
  for (const CloudField& field : fields) {
    const DocumentValue* const value = table.take({field.name});
    if (value != nullptr && !says_nothing(*value)) table.wrong(*value, field.name, field.instead);
  }
}

std::string absolute_address(const std::string& address, const RequestReading& reading) {
  constexpr std::string_view kFileScheme = "file://";
  if (address.starts_with(kFileScheme)) {
    return std::string(kFileScheme) +
           (reading.places.here / address.substr(kFileScheme.size())).lexically_normal().string();
  }
  if (address.find("://") != std::string::npos) return address;
  std::string path = (reading.places.here / address).lexically_normal().string();
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

OrderedJson json_of(const DocumentValue* value) {
  if (value == nullptr || value->is(Kind::kNull)) return nullptr;
  return OrderedJson::parse(fmt::format("[{}]", document::to_json_text(*value))).at(0);
}

std::string file_text(const OrderedJson& json) {
  return json.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

Result<RequestFiles> files_of_request(std::string_view text, const RequestPlaces& places) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const DocumentValue top, document::parse(text, "the request"));
  if (!top.is(Kind::kTable)) {
    return Status(Code::kInvalidArgument,
                  fmt::format("expected a request, as in {{\"TrainingJobName\": ...}}, found {}", name(top.kind)));
  }
  document::Mistakes mistakes;
  RequestReading reading{places, mistakes, {}};
  TableReader request(top, mistakes);
  if (is_processing(top)) {
    read_names(request, "ProcessingJobName", reading);
    read_processing(request, reading);
  } else {
    read_training(request, reading);
  }
  request.refuse_rest();
  TRAINWARDEN_RETURN_IF_ERROR(mistakes.status());
  reading.files.texts[kRequestFile] = file_text(json_of(&top));
  reading.files.texts[kJobFile] = file_text(reading.job);
  return std::move(reading.files);
}

}  // namespace trainwarden::sagemaker
