#include "work/experiments/job_component.h"

#include <algorithm>
#include <utility>

#include "core/base/text.h"
#include "work/document/document.h"
#include "work/experiments/artifact_reading.h"
#include "work/experiments/code_version.h"
#include "work/experiments/experiment_store.h"
#include "work/experiments/run_metrics.h"
#include "work/jobs/hyperparameters.h"
#include "work/workspace/layout.h"

namespace trainwarden::experiments {
namespace {

namespace fs = std::filesystem;

constexpr double kBytesInGiB = 1024.0 * 1024 * 1024;

ComponentValue value_of(const document::DocumentValue& value) {
  using Kind = document::DocumentValue::Kind;
  if (value.is(Kind::kInteger) || value.is(Kind::kNumber)) return value.number;
  return jobs::argument_text(value).substr(0, kMaxParameterText);
}

// In the words of SageMaker where it has one.
std::map<std::string, ComponentValue> resource_facts(const jobs::JobSpec& spec) {
  const jobs::Resources& resources = spec.resources;
  std::map<std::string, ComponentValue> facts = {{"SageMaker.InstanceCount", static_cast<double>(resources.nodes)}};
  if (!resources.profile.empty()) facts["SageMaker.InstanceType"] = resources.profile;
  if (!spec.image.empty()) facts["SageMaker.ImageUri"] = spec.image.substr(0, kMaxParameterText);
  if (resources.volume_bytes) {
    facts["SageMaker.VolumeSizeInGB"] = static_cast<double>(*resources.volume_bytes) / kBytesInGiB;
  }
  if (resources.tasks_per_node > 1) facts["tasks_per_node"] = static_cast<double>(resources.tasks_per_node);
  if (resources.cpus) facts["cpus"] = static_cast<double>(*resources.cpus);
  if (resources.gpus) facts["gpus"] = static_cast<double>(*resources.gpus);
  if (resources.memory_bytes) facts["memory_bytes"] = static_cast<double>(*resources.memory_bytes);
  return facts;
}

std::string address_of(const std::string& source, const fs::path& folder) {
  if (source.find("://") != std::string::npos) return source;
  return (folder / source).lexically_normal().string();
}

ArtifactUse hashed_input(const char* name, const fs::path& path, const HashBudget& budget) {
  return read_artifact(name, path.string(), false, budget);
}

// What its workspace has kept, where it is there.
void add_results(const jobs::JobRecord& job, const HashBudget& budget, ComponentRecord& record) {
  const Result<document::DocumentValue> top = document::parse(job.order().spec, "job");
  if (!top.ok()) return;
  document::Mistakes ignored;  // `submit` has told them
  const auto layout = workspace::layout_of(job, jobs::read_job_spec(*top, ignored));
  if (!layout.ok()) return;
  const std::pair<const char*, fs::path> kept[] = {{"model", layout->results / "model.tar.gz"},
                                                   {"output", layout->results / "output.tar.gz"},
                                                   {"checkpoints", layout->kept_checkpoints}};
  for (const auto& [name, path] : kept) {
    const Result<ContentHash> content = hash_content(path, budget);
    const bool is_empty = content.ok() && !content->hash.empty() && content->bytes == 0;
    if (content.ok() && !is_empty) record.outputs[name] = artifact_of(name, path.string(), true, *content);
  }
}

}  // namespace

std::string component_of_job(const std::string& job) {
  return job + "-aws-training-job";
}

ComponentRecord record_of_job(const jobs::JobSpec& spec, const jobs::JobOrder& order, const fs::path& folder) {
  ComponentRecord record;
  record.unix_ns = order.submitted_unix_ns;
  record.display_name = component_of_job(order.name);
  record.run_name = spec.experiment.run;
  record.source = folder.string();
  record.status = "InProgress";
  record.start_unix_ns = order.submitted_unix_ns;
  record.parameters = resource_facts(spec);
  for (const auto& [name, value] : spec.hyperparameters) {
    if (record.parameters.size() == kMaxParameters || name.size() > kMaxKey) break;
    record.parameters.emplace(name, value_of(value));
  }
  for (const auto& [name, value] : spec.tags) {
    if (name.size() <= kMaxKey && value.size() <= kMaxKey) record.tags.emplace(name, value);
  }
  return record;
}

ComponentRecord inputs_of_job(const jobs::JobSpec& spec, const jobs::JobOrder& order, const fs::path& spec_folder,
                              const HashBudget& budget, std::string& environment) {
  ComponentRecord record;
  record.unix_ns = order.submitted_unix_ns;
  const fs::path sources = (spec_folder / (spec.source_dir.empty() ? "." : spec.source_dir)).lexically_normal();
  if (!spec.source_dir.empty()) {
    // The copy that the job runs, known by where it is from.
    record.inputs["code"] = hashed_input("code", order.folder, budget);
    record.inputs["code"].uri = sources.string().substr(0, kMaxUri);
  } else if (!spec.entry_point.empty()) {
    // A script without a folder of sources lies among things that are none.
    record.inputs["code"] = hashed_input("code", sources / spec.entry_point, budget);
  }
  for (const auto& [name, value] : code_version(sources)) record.parameters[name] = value;
  for (const jobs::Channel& channel : spec.inputs) {
    ArtifactUse use = read_artifact(channel.name, address_of(channel.source, spec_folder), false, budget);
    use.type = "DataSet";
    use.media_type = channel.content_type.substr(0, kMaxMediaType);
    record.inputs[channel.name] = std::move(use);
  }
  if (!spec.image.empty()) record.inputs["image"] = {spec.image.substr(0, kMaxUri), "", "Image", "", std::nullopt, ""};
  environment = python_packages(sources).value_or("");
  return record;
}

namespace {

// By what it was, not only by what it was called. Nothing when it ran in none, or nobody knows.
void add_image(const jobs::JobRecord& job, int attempt, ComponentRecord& record) {
  const auto container = job.read_container(attempt);
  if (!container.ok() || !*container || (*container)->digest.empty()) return;
  record.inputs["image"] = {
      (*container)->image.substr(0, kMaxUri), "", "Image", (*container)->digest, std::nullopt, ""};
}

}  // namespace

Result<ComponentRecord> end_of_job(const jobs::JobRecord& job, const HashBudget& budget) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<jobs::Transition> transitions, job.transitions());
  const jobs::Transition& now = transitions.back();
  ComponentRecord record;
  record.unix_ns = now.unix_ns;
  record.status = std::string(name(jobs::status_of(now.status)));
  record.message = with_valid_utf8(now.message.substr(0, kMaxMessage / 4));
  for (const jobs::Transition& one : transitions) {
    if (one.status == jobs::JobPhase::kTraining && !record.start_unix_ns) record.start_unix_ns = one.unix_ns;
  }
  if (jobs::is_terminal(now.status)) record.end_unix_ns = now.unix_ns;
  const storage::Location run(job.order().run);
  if (auto metrics = metrics_of_run(run); metrics.ok()) {
    record.metrics = *std::move(metrics);
    record.outputs["run"] = {job.order().run, "", "DebugOutput", "", std::nullopt, ""};
  }
  add_image(job, jobs::attempt_of(transitions), record);
  add_results(job, budget, record);
  return record;
}

}  // namespace trainwarden::experiments
