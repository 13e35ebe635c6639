#include "ui/cli/running/job_experiment.h"

#include <unistd.h>

#include <utility>

#include "core/base/clock.h"
#include "core/base/folder_variables.h"
#include "core/base/job_variables.h"
#include "core/process/child.h"
#include "core/process/descriptors.h"
#include "ui/cli/options/experiment_choice.h"
#include "ui/cli/terminal/output.h"
#include "work/experiments/artifact_reading.h"
#include "work/experiments/experiment_store.h"
#include "work/experiments/job_component.h"

namespace trainwarden::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kInputsFile = "job-inputs.json";
constexpr const char* kEndFile = "job-end.json";
constexpr const char* kOutputsFile = "job-outputs.json";
constexpr int kLowPriority = 15;
constexpr experiments::HashBudget kInputBudget{.bytes = std::uint64_t{8} << 30, .files = 100'000};

// Where the order says that its component lies.
struct JobComponent {
  experiments::ExperimentStore store;
  std::string name;
};

std::optional<JobComponent> component_of(const jobs::JobOrder& order) {
  const auto folder = order.environment.find(variable::kExperiments);
  const auto name = order.environment.find(variable::kComponent);
  if (folder == order.environment.end() || name == order.environment.end()) return std::nullopt;
  return JobComponent{experiments::ExperimentStore(folder->second), name->second};
}

}  // namespace

Status enter_experiment(const jobs::JobSpec& spec, const fs::path& jobs, jobs::JobOrder& order) {
  const std::string& experiment = spec.experiment.experiment;
  if (experiment.empty()) return Status();
  const fs::path folder = fs::absolute(experiments_folder(""));
  experiments::ExperimentStore store(folder);
  if (const auto there = store.read_experiment(experiment); !there.ok()) {
    if (there.status().code() != Code::kNotFound) return there.status();
    return Status(Code::kNotFound, fmt::format("{}; make it with `trainwarden experiment create {}`",
                                               there.status().message(), experiment));
  }
  const std::string trial =
      spec.experiment.trial.empty() ? experiments::default_trial(experiment) : spec.experiment.trial;
  TRAINWARDEN_RETURN_IF_ERROR(store.ensure_trial({trial, experiment, "", order.submitted_unix_ns}));
  experiments::ComponentRecord record = experiments::record_of_job(spec, order, jobs / order.name);
  record.trials = {trial};
  const std::string component = experiments::component_of_job(order.name);
  if (const Status made = store.create_component(component, record); !made.ok()) {
    if (made.code() != Code::kAlreadyExists) return made;
    return Status(made.code(), made.message() + ", of another job of this name; name the job with --name");
  }
  order.environment[variable::kExperiments] = folder.string();
  order.environment[variable::kComponent] = component;
  return Status();
}

void leave_experiment(const jobs::JobOrder& order, const Status& why) {
  auto component = component_of(order);
  if (!component) return;
  experiments::ComponentRecord record;
  record.unix_ns = system_clock().unix_ns();
  record.status = "Failed";
  record.message = with_valid_utf8(why.message()).substr(0, experiments::kMaxMessage / 4);
  const Status status = component->store.replace_record(component->name, kEndFile, record);
  if (!status.ok()) emit(stderr, "trainwarden: {}\n", status.message());
}

void start_recording_inputs(const jobs::JobRecord& job, const fs::path& jobs, const fs::path& spec_folder) {
  if (!component_of(job.order())) return;
  process::Program recorder;
  recorder.command = {"/proc/self/exe", "job",         "record",   job.order().name,
                      "--jobs",         jobs.string(), "--folder", spec_folder.string()};
  recorder.nice = kLowPriority;
  recorder.own_group = true;
  recorder.environment.removed = {variable::kJobDir};
  recorder.signals = process::SignalStart::all_default();
  const auto null = process::open_null();
  if (!null.ok()) return emit(stderr, "trainwarden: its inputs are not recorded: {}\n", null.status().message());
  recorder.descriptors = {{STDIN_FILENO, null->get()}, {STDOUT_FILENO, null->get()}, {STDERR_FILENO, null->get()}};
  const auto child = process::Child::start(recorder);
  if (!child.ok()) emit(stderr, "trainwarden: its inputs are not recorded: {}\n", child.status().message());
}

Status record_job_inputs(const jobs::JobRecord& job, const jobs::JobSpec& spec, const fs::path& spec_folder) {
  auto component = component_of(job.order());
  if (!component) return Status();
  std::string packages;
  experiments::ComponentRecord record =
      experiments::inputs_of_job(spec, job.order(), spec_folder, kInputBudget, packages);
  if (!packages.empty()) {
    TRAINWARDEN_ASSIGN_OR_RETURN(record.inputs["environment"], component->store.keep_environment(packages));
  }
  return component->store.replace_record(component->name, kInputsFile, record);
}

Status announce_job_outputs(const jobs::JobOrder& order, const std::map<std::string, fs::path>& outputs) {
  auto component = component_of(order);
  if (!component || outputs.empty()) return Status();
  experiments::ComponentRecord record;
  record.unix_ns = system_clock().unix_ns();
  for (const auto& [name, folder] : outputs) {
    record.outputs[name] = experiments::artifact_of(name, folder.string(), true, {});
  }
  return component->store.replace_record(component->name, kOutputsFile, record);
}

namespace {

// What was announced to come of it, as it is now.
void hash_announced(const JobComponent& component, experiments::ComponentRecord& record) {
  const auto known = component.store.read_component(component.name);
  if (!known.ok()) return;  // whoever reads the component hears of that
  for (const auto& [name, use] : known->now.outputs) {
    if (!use.hash.empty() || record.outputs.contains(name)) continue;
    experiments::ArtifactUse now = experiments::read_artifact(name, use.uri, true, kInputBudget);
    now.media_type = use.media_type;
    if (!now.hash.empty()) record.outputs[name] = std::move(now);
  }
}

}  // namespace

Status record_job_end(const jobs::JobRecord& job) {
  auto component = component_of(job.order());
  if (!component) return Status();
  TRAINWARDEN_ASSIGN_OR_RETURN(experiments::ComponentRecord record, experiments::end_of_job(job, kInputBudget));
  hash_announced(*component, record);
  return component->store.replace_record(component->name, kEndFile, record);
}

}  // namespace trainwarden::cli
