// Trial: the run and its steps.
#include "trainwarden/trial.h"

#include <algorithm>

#include "core/base/no_throw.h"
#include "read/trial/trial_access.h"
#include "read/trial/trial_impl.h"

namespace trainwarden {

std::string_view name(StepState state) {
  switch (state) {
    case StepState::kUnavailable: return "unavailable";
    case StepState::kAvailable: return "available";
    case StepState::kNotYetAvailable: return "not yet available";
  }
  return "unknown state";
}

std::string_view name(RunState state) {
  switch (state) {
    case RunState::kRunning: return "running";
    case RunState::kCompleted: return "completed";
    case RunState::kStopped: return "stopped";
    case RunState::kDied: return "died";
  }
  return "unknown state";
}

Trial::Trial(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Trial::~Trial() = default;

Result<std::unique_ptr<Trial>> Trial::open(const std::filesystem::path& run_dir, const TrialOptions& options) {
  return no_throw([&] { return TrialAccess::open(run_dir, options); });
}

Status Trial::refresh() {
  return no_throw([&] { return impl_->run().refresh(); });
}

const std::filesystem::path& Trial::path() const {
  return impl_->path();
}
std::string_view Trial::recorder() const {
  return impl_->run().recorder();
}
const std::string& Trial::run_id() const {
  return impl_->run().info().id;
}
const std::string& Trial::framework() const {
  return impl_->run().info().framework;
}
std::int64_t Trial::created_unix_ns() const {
  return impl_->run().info().created_unix_ns;
}
const std::map<std::string, std::string>& Trial::labels() const {
  return impl_->run().info().labels;
}
RunState Trial::state() const {
  return impl_->run().state();
}
int Trial::world_size() const {
  return impl_->run().info().world_size;
}
std::vector<RunLoss> Trial::losses() const {
  return impl_->run().losses();
}

std::int64_t Trial::last_unix_ns() const {
  std::int64_t last = 0;
  for (const auto& worker : impl_->run().workers()) last = std::max(last, worker->last_unix_ns());
  return last;
}

std::vector<std::string> Trial::workers() const {
  const auto& workers = impl_->run().workers();
  std::vector<std::string> names;
  names.reserve(workers.size());
  for (const auto& worker : workers) names.push_back(worker->name());
  return names;
}

std::vector<Mode> Trial::modes() const {
  return impl_->run().step_table().modes();
}

std::vector<std::int64_t> Trial::steps(Mode mode, bool include_incomplete) const {
  return impl_->run().step_table().steps(mode, include_incomplete);
}

std::optional<std::int64_t> Trial::global_step(Mode mode, std::int64_t mode_step) const {
  return impl_->run().step_table().global_step(mode, mode_step);
}

std::optional<Mode> Trial::mode_of(std::int64_t global_step) const {
  const auto* step = impl_->run().step_table().find(global_step);
  return step == nullptr ? std::nullopt : std::optional<Mode>(step->mode);
}

std::optional<std::int64_t> Trial::mode_step_of(std::int64_t global_step) const {
  const auto* step = impl_->run().step_table().find(global_step);
  return step == nullptr ? std::nullopt : std::optional<std::int64_t>(step->mode_step);
}

std::int64_t Trial::last_complete_step() const {
  return impl_->run().step_table().last_complete_step();
}

std::vector<std::int64_t> Trial::complete_steps_after(std::int64_t global_step) const {
  return impl_->run().step_table().complete_steps_after(global_step);
}

bool Trial::loaded_all_steps() const {
  return impl_->run().step_table().finished();
}

StepState Trial::step_state(std::int64_t step, Mode mode) const {
  return impl_->run().step_table().state(step, mode);
}

}  // namespace trainwarden
