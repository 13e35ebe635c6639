#include "ui/views/run_home.h"

#include <algorithm>
#include <map>

#include "react/events/description.h"
#include "read/trial/tensor_catalog.h"
#include "read/trial/trial_access.h"
#include "store/journal/run_folder.h"

namespace trainwarden::views {
namespace {

constexpr std::size_t kPaceSteps = 100;

std::optional<double> pace_of(const Trial& trial, const std::vector<std::int64_t>& steps) {
  const std::vector<std::string> workers = trial.workers();
  if (steps.size() < 2 || workers.empty()) return std::nullopt;
  const std::size_t count = std::min(kPaceSteps, steps.size());
  const std::int64_t first = steps[steps.size() - count];
  const std::int64_t first_ns = TrialAccess::step_unix_ns(trial, workers[0], first);
  const std::int64_t last_ns = TrialAccess::step_unix_ns(trial, workers[0], steps.back());
  if (first_ns == 0 || last_ns <= first_ns) return std::nullopt;
  return static_cast<double>(steps.back() - first) / (static_cast<double>(last_ns - first_ns) / 1e9);
}

void read_progress(const Trial& trial, RunHome& home) {
  const std::vector<std::int64_t> steps = trial.steps();
  home.step_count = steps.size();
  home.last_step = trial.last_complete_step();
  home.steps_per_second = pace_of(trial, steps);
  for (const Mode mode : trial.modes()) {
    const auto mode_steps = trial.steps(mode);
    home.modes.push_back({mode, mode_steps.size(), mode_steps.empty() ? -1 : mode_steps.back()});
  }
}

// In one pass over the tensors: there may be as many collections.
void read_contents(Trial& trial, RunHome& home) {
  trial::TensorCatalog& catalog = TrialAccess::catalog(trial);
  home.tensors = catalog.tensors().size();
  std::map<std::string, std::size_t> sizes;
  for (auto& [tensor_name, tensor] : catalog.tensors()) {
    for (const std::string& collection : catalog.collections_of(tensor)) ++sizes[collection];
  }
  for (const auto& [name, tensors] : sizes) {
    auto collection = trial.collection(name);
    Collection known = collection.ok() ? *std::move(collection) : Collection{.name = name};
    known.tensor_names.clear();  // a list of thousands that nobody asked for
    home.collections.push_back({std::move(known), tensors});
  }
}

}  // namespace

RunHome read_run_home(Trial& trial) {
  RunHome home;
  const journal::RunInfo& info = TrialAccess::run_info(trial);
  home.state = trial.state();
  home.recorder = trial.recorder();
  home.run_id = trial.run_id();
  home.host = info.host;
  home.framework = info.framework;
  home.command = info.command;
  home.labels = trial.labels();
  home.created_unix_ns = trial.created_unix_ns();
  home.last_unix_ns = trial.last_unix_ns();
  home.world_size = trial.world_size();
  const std::vector<std::string> living = TrialAccess::living_workers(trial);
  for (const std::string& worker : trial.workers()) {
    home.workers.push_back({worker, std::find(living.begin(), living.end(), worker) != living.end()});
  }
  read_progress(trial, home);
  home.length = run_length(trial, home.labels);
  home.loss = last_loss(trial);
  auto view = events::view_run(trial);
  if (view.ok()) home.view = *std::move(view);
  read_contents(trial, home);
  home.journal_bytes = journal::journal_bytes(TrialAccess::location(trial).storage());
  home.losses = trial.losses();
  home.bills = read_bills(trial);
  home.last_trained_step = last_trained_step(trial, home.bills);
  home.checkpoints = read_checkpoints(trial);
  return home;
}

}  // namespace trainwarden::views
