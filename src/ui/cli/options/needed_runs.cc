#include "ui/cli/options/needed_runs.h"

#include <map>

#include <fmt/format.h>

#include "core/base/text.h"
#include "store/storage/location.h"
#include "work/experiments/experiment_store.h"
#include "work/jobs/job_record.h"

namespace trainwarden::cli {
namespace {

namespace fs = std::filesystem;
using retention::NeededRuns;

fs::path whole_path(const fs::path& path) {
  return storage::Location(path).absolute().path().lexically_normal();
}

// Does the text speak of the folder, or of what lies in it?
bool names_folder(const std::string& text, const std::string& folder) {
  constexpr std::string_view kEnds = "/\"' \t\n,]}):;";
  for (std::size_t at = text.find(folder); at != std::string::npos; at = text.find(folder, at + 1)) {
    const std::size_t end = at + folder.size();
    if (end == text.size() || kEnds.find(text[end]) != std::string_view::npos) return true;
  }
  return false;
}

class NeedFinder {
 public:
  NeedFinder(const fs::path& runs, const std::vector<std::string>& names) {
    const fs::path folder = whole_path(runs);
    for (const std::string& name : names) paths_[name] = (folder / name).string();
  }

  Status look_at_jobs(const fs::path& folder);
  Status look_at_experiments(const fs::path& folder);
  NeededRuns take() && { return std::move(needed_); }

 private:
  Status look_at_job(const jobs::JobRecord& job);
  void look_at_uses(const std::string& component, const std::map<std::string, experiments::ArtifactUse>& uses,
                    const char* what);

  std::map<std::string, std::string> paths_;  // by name
  NeededRuns needed_;
};

Status NeedFinder::look_at_jobs(const fs::path& folder) {
  const storage::Location jobs(folder);
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto names, jobs::JobRecord::list(jobs));
  for (const std::string& name : names) {
    const auto job = jobs::JobRecord::open(jobs, name);
    if (job.status().code() == Code::kNotFound) continue;  // removed meanwhile
    Status status = job.status();
    if (status.ok()) status = look_at_job(*job);
    if (!status.ok()) return status.with_context("nobody knows which runs jobs need, so nothing is removed");
  }
  return Status();
}

Status NeedFinder::look_at_job(const jobs::JobRecord& job) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const jobs::Transition now, job.current());
  const jobs::JobOrder& order = job.order();
  const std::string own = order.run.empty() ? "" : whole_path(order.run).string();
  std::string said = order.spec;
  for (const std::string& word : order.program) said += "\n" + word;
  for (const auto& [key, value] : order.environment) said += "\n" + value;
  for (const auto& [name, path] : paths_) {
    if (path == own && !jobs::is_terminal(now.status)) {
      needed_[name] = fmt::format("its job {} is {}", order.name, jobs::name(now.status));
    } else if (path != own && names_folder(said, path)) {
      needed_[name] = fmt::format("job {} reads it", order.name);
    }
  }
  return Status();
}

Status NeedFinder::look_at_experiments(const fs::path& folder) {
  const experiments::ExperimentStore store{storage::Location(folder)};
  const auto names = store.folder().storage().list(experiments::kComponentsFolder);
  if (names.status().code() == Code::kNotFound) return Status();
  TRAINWARDEN_RETURN_IF_ERROR(names.status());
  for (const std::string& name : *names) {
    const auto component = store.read_component(name);
    if (component.status().code() == Code::kNotFound) continue;
    if (!component.ok()) {
      return component.status().with_context("nobody knows which runs experiments need, so nothing is removed");
    }
    look_at_uses(name, component->now.inputs, "an input");
    look_at_uses(name, component->now.outputs, "an output");
  }
  return Status();
}

void NeedFinder::look_at_uses(const std::string& component, const std::map<std::string, experiments::ArtifactUse>& uses,
                              const char* what) {
  for (const auto& [key, use] : uses) {
    for (const auto& [name, path] : paths_) {
      if (!names_folder(use.uri, path)) continue;
      needed_[name] = fmt::format("it holds {} of {}", what, printable(component));
    }
  }
}

}  // namespace

Result<NeededRuns> find_needed_runs(const fs::path& runs, const std::vector<std::string>& names, const fs::path& jobs,
                                    const fs::path& experiments) {
  NeedFinder finder(runs, names);
  TRAINWARDEN_RETURN_IF_ERROR(finder.look_at_jobs(jobs));
  TRAINWARDEN_RETURN_IF_ERROR(finder.look_at_experiments(experiments));
  return std::move(finder).take();
}

}  // namespace trainwarden::cli
