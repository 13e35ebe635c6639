#include "work/experiments/experiment_store.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/bytes.h"
#include "core/base/text.h"
#include "store/storage/naming.h"
#include "work/experiments/content_hash.h"

namespace trainwarden::experiments {
namespace {

constexpr const char* kFirstRecord = "component.json";
constexpr const char* kEnding = ".json";
constexpr std::uint64_t kMaxEntityBytes = std::uint64_t{4} << 20;
constexpr std::uint64_t kMaxComponentBytes = std::uint64_t{16} << 20;  // of all records together

std::string entity_path(const char* folder, const std::string& name) {
  return fmt::format("{}/{}{}", folder, name, kEnding);
}

std::string component_path(const std::string& name) {
  return fmt::format("{}/{}", kComponentsFolder, name);
}

template <class Value>
void cut_to(std::map<std::string, Value>& entries, std::size_t limit) {
  if (entries.size() > limit)
    entries.erase(std::next(entries.begin(), static_cast<std::ptrdiff_t>(limit)), entries.end());
}

// Writers look before they write; two that write at once, or somebody else, may still bring too much.
void cut_to_limits(ComponentRecord& record) {
  cut_to(record.parameters, kMaxParameters);
  cut_to(record.metrics, kMaxMetrics);
  cut_to(record.inputs, kMaxArtifacts);
  cut_to(record.outputs, kMaxArtifacts);
  cut_to(record.tags, kMaxEntityTags);
  while (record.trials.size() > kMaxTrials) record.trials.erase(std::prev(record.trials.end()));
}

}  // namespace

std::string default_trial(const std::string& experiment) {
  std::string name = ("Default-Run-Group-" + experiment).substr(0, kMaxEntityName);
  while (name.ends_with('-')) name.pop_back();
  return name;
}

Status ExperimentStore::put(const std::string& path, const std::string& text) {
  storage::Storage& storage = folder_.storage();
  TRAINWARDEN_RETURN_IF_ERROR(storage.create_folder(path.substr(0, path.rfind('/'))));
  return storage.put_if_absent(path, as_bytes(text));
}

Status ExperimentStore::not_found(const char* kind, const char* folder, const std::string& name) const {
  std::vector<std::string> names = folder_.storage().list(folder).value_or({});
  for (std::string& known : names) {
    if (known.ends_with(kEnding)) known.resize(known.size() - std::string_view(kEnding).size());
  }
  return Status(Code::kNotFound, fmt::format("there is no {} \"{}\" in {}{}", kind, printable(name),
                                             printable(folder_.address()), did_you_mean(name, names)));
}

Status ExperimentStore::create_experiment(const ExperimentInfo& experiment) {
  TRAINWARDEN_RETURN_IF_ERROR(check_entity_name("experiment", experiment.name));
  const std::string text = encode(experiment);
  if (const auto back = decode_experiment(text, "the experiment"); !back.ok()) {
    return Status(Code::kInvalidArgument, back.status().message());
  }
  const Status status = put(entity_path(kExperimentsFolder, experiment.name), text);
  if (status.code() != Code::kAlreadyExists) return status;
  return Status(Code::kAlreadyExists, fmt::format("there is an experiment \"{}\" already", experiment.name));
}

Result<ExperimentInfo> ExperimentStore::read_experiment(const std::string& name) const {
  TRAINWARDEN_RETURN_IF_ERROR(check_entity_name("experiment", name));
  const std::string path = entity_path(kExperimentsFolder, name);
  const Result<std::string> text = folder_.storage().read(path, kMaxEntityBytes);
  if (text.status().code() == Code::kNotFound) return not_found("experiment", kExperimentsFolder, name);
  if (!text.ok()) return text.status();
  return decode_experiment(*text, folder_.storage().describe(path));
}

Status ExperimentStore::ensure_trial(const TrialInfo& trial) {
  TRAINWARDEN_RETURN_IF_ERROR(check_entity_name("trial", trial.name));
  TRAINWARDEN_RETURN_IF_ERROR(read_experiment(trial.experiment).status());
  const Status made = put(entity_path(kTrialsFolder, trial.name), encode(trial));
  if (made.code() != Code::kAlreadyExists) return made;
  TRAINWARDEN_ASSIGN_OR_RETURN(const TrialInfo there, read_trial(trial.name));
  if (there.experiment == trial.experiment) return Status();
  return Status(
      Code::kFailedPrecondition,
      fmt::format("the trial \"{}\" belongs to the experiment \"{}\"; name another", trial.name, there.experiment));
}

Result<TrialInfo> ExperimentStore::read_trial(const std::string& name) const {
  TRAINWARDEN_RETURN_IF_ERROR(check_entity_name("trial", name));
  const std::string path = entity_path(kTrialsFolder, name);
  const Result<std::string> text = folder_.storage().read(path, kMaxEntityBytes);
  if (text.status().code() == Code::kNotFound) return not_found("trial", kTrialsFolder, name);
  if (!text.ok()) return text.status();
  return decode_trial(*text, folder_.storage().describe(path));
}

Status ExperimentStore::check_trials(const ComponentRecord& record) const {
  for (const std::string& trial : record.trials) TRAINWARDEN_RETURN_IF_ERROR(read_trial(trial).status());
  return Status();
}

Status ExperimentStore::create_component(const std::string& name, const ComponentRecord& record) {
  const Status status = add_record_once(name, kFirstRecord, record);
  if (status.code() != Code::kAlreadyExists) return status;
  return Status(Code::kAlreadyExists, fmt::format("there is a component \"{}\" already", name));
}

Status ExperimentStore::add_record(const std::string& name, const ComponentRecord& record) {
  const Status made = create_component(name, record);
  if (made.code() != Code::kAlreadyExists) return made;
  TRAINWARDEN_ASSIGN_OR_RETURN(Component component, read_component(name));
  component.now.merge(record);
  TRAINWARDEN_RETURN_IF_ERROR(component.now.check().with_context("with what it has already"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string own, storage::random_name());
  return add_record_once(name, own + kEnding, record);
}

Status ExperimentStore::add_record_once(const std::string& name, const std::string& file,
                                        const ComponentRecord& record) {
  TRAINWARDEN_RETURN_IF_ERROR(check_entity_name("component", name));
  TRAINWARDEN_RETURN_IF_ERROR(record.check());
  TRAINWARDEN_RETURN_IF_ERROR(check_trials(record));
  return put(fmt::format("{}/{}", component_path(name), file), encode(record));
}

Status ExperimentStore::replace_record(const std::string& name, const std::string& file,
                                       const ComponentRecord& record) {
  TRAINWARDEN_RETURN_IF_ERROR(check_entity_name("component", name));
  TRAINWARDEN_RETURN_IF_ERROR(record.check());
  storage::Storage& storage = folder_.storage();
  TRAINWARDEN_RETURN_IF_ERROR(storage.create_folder(component_path(name)));
  return storage.replace(fmt::format("{}/{}", component_path(name), file), as_bytes(encode(record)));
}

Result<ArtifactUse> ExperimentStore::keep_environment(const std::string& packages) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string hash, sha256_of(packages));
  const std::string path = fmt::format("environments/{}.txt", hash);
  const Status status = put(path, packages);
  if (!status.ok() && status.code() != Code::kAlreadyExists) return status;
  return ArtifactUse{
      (folder_.absolute().path() / path).string(), "text/plain", "Environment", "sha256:" + hash, packages.size(), ""};
}

Result<std::vector<std::string>> ExperimentStore::record_files(const std::string& name) const {
  Result<std::vector<std::string>> files = folder_.storage().list(component_path(name));
  if (files.status().code() == Code::kNotFound) return not_found("component", kComponentsFolder, name);
  if (!files.ok()) return files.status();
  std::erase_if(*files, [](const std::string& file) { return !file.ends_with(kEnding); });
  if (files->empty()) return not_found("component", kComponentsFolder, name);
  return files;
}

// Those that can be read, and why the others cannot.
std::vector<ComponentRecord> ExperimentStore::read_records(Component& component,
                                                           const std::vector<std::string>& files) const {
  const storage::Storage& storage = folder_.storage();
  std::vector<ComponentRecord> records;
  std::uint64_t bytes = 0;
  for (const std::string& file : files) {
    if (records.size() + component.unread.size() == kMaxRecords || bytes > kMaxComponentBytes) {
      component.unread.push_back(fmt::format("{} records of {} are too many, or too large", files.size(),
                                             storage.describe(component_path(component.name))));
      break;
    }
    const std::string path = fmt::format("{}/{}", component_path(component.name), file);
    const Result<std::string> text = storage.read(path, kMaxEntityBytes);
    bytes += text.ok() ? text->size() : 0;
    Result<ComponentRecord> record = text.ok() ? decode_record(*text, storage.describe(path)) : text.status();
    if (record.ok()) {
      records.push_back(*std::move(record));
    } else {
      component.unread.push_back(record.status().message());
    }
  }
  return records;
}

Result<Component> ExperimentStore::read_component(const std::string& name) const {
  TRAINWARDEN_RETURN_IF_ERROR(check_entity_name("component", name));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<std::string> files, record_files(name));
  Component component;
  component.name = name;
  std::vector<ComponentRecord> records = read_records(component, files);
  std::stable_sort(records.begin(), records.end(),
                   [](const ComponentRecord& a, const ComponentRecord& b) { return a.unix_ns < b.unix_ns; });
  if (!records.empty()) component.created_unix_ns = records.front().unix_ns;
  for (const ComponentRecord& record : records) component.now.merge(record);
  cut_to_limits(component.now);
  return component;
}

}  // namespace trainwarden::experiments
