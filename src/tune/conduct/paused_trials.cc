#include "tune/conduct/paused_trials.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tune/conduct/trial_metrics.h"

namespace trainwarden::tune {

PausedTrials::PausedTrials(Study& study, TrialPruner* pruner, TrialRunner& runner, ConductorNotices notices)
    : study_(study), pruner_(pruner), runner_(runner), notices_(std::move(notices)) {}

std::vector<std::size_t> PausedTrials::paused() const {
  std::vector<std::size_t> paused;
  const auto& trials = study_.state().history().trials;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (trials[i].state == TrialState::kPaused) paused.push_back(i);
  }
  return paused;
}

void PausedTrials::warn_of(const Status& status, const std::string& job) const {
  if (!status.ok() && notices_.trouble) notices_.trouble(status.with_context(job));
}

Status PausedTrials::pause(std::size_t trial, const std::string& why) {
  TRAINWARDEN_RETURN_IF_ERROR(study_.pause(static_cast<std::int64_t>(trial), why));
  if (notices_.paused) notices_.paused(trial);
  return follow(trial);
}

Status PausedTrials::follow() {
  for (const std::size_t trial : paused()) {
    const auto rest = rests_.find(trial);
    if (rest == rests_.end() || rest->second != Rest::kStands) TRAINWARDEN_RETURN_IF_ERROR(follow(trial));
  }
  return {};
}

Status PausedTrials::follow(std::size_t trial) {
  const std::string job = study_.state().record(trial).job;
  auto look = runner_.look(job);
  if (look.status().code() == Code::kNotFound) return fail(trial, look.status().message());
  if (!look.ok()) {
    warn_of(look.status(), job);
    return {};
  }
  if (look->end && look->was_stopped) {
    rests_[trial] = Rest::kStands;
    return {};
  }
  if (look->end) {
    complete_trial(study_.state().history(), *look, *look->end);
    return finish(trial, *std::move(look->end));
  }
  if (rests_.contains(trial)) return {};
  const Status stopped = runner_.stop(job, study_.state().record(trial).why);
  warn_of(stopped, job);
  if (stopped.ok()) rests_[trial] = Rest::kStopping;
  return {};
}

std::size_t PausedTrials::stopping() const {
  const auto all = paused();
  return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [&](std::size_t trial) {
    const auto rest = rests_.find(trial);
    return rest == rests_.end() || rest->second != Rest::kStands;
  }));
}

Result<PausedTrials::Next> PausedTrials::promote_next(const std::string& worker, bool is_last) {
  if (pruner_ == nullptr || !pruner_->pauses() || study_.end_of_promotions()) return Next::kNone;
  const auto next = pruner_->next_promotion(study_.state().history(), is_last);
  if (!next) return Next::kNone;
  const auto rest = rests_.find(next->trial);
  if (rest == rests_.end() || rest->second != Rest::kStands) return Next::kStops;
  const std::string job = study_.state().record(next->trial).job;
  const Status goes_on = runner_.go_on(job, next->why);
  rests_.erase(next->trial);
  if (goes_on.ok()) {
    TRAINWARDEN_RETURN_IF_ERROR(study_.promote(static_cast<std::int64_t>(next->trial), next->rung, worker, next->why));
    if (notices_.started) notices_.started(next->trial);
    return Next::kPromoted;
  }
  warn_of(goes_on, job);
  if (goes_on.code() == Code::kUnavailable) return Next::kStops;  // it may go on: a look will tell, and stop it again
  TRAINWARDEN_RETURN_IF_ERROR(fail(next->trial, "it could not go on: " + goes_on.message()));
  return Next::kPromoted;
}

Status PausedTrials::fail(std::size_t trial, const std::string& why) {
  return finish(trial, {.state = TrialState::kFailed, .metrics = {}, .why = why, .seconds = {}});
}

Status PausedTrials::give_up(const std::string& why) {
  for (const std::size_t trial : paused()) {
    const std::string job = study_.state().record(trial).job;
    TrialEnd end{.state = TrialState::kPruned, .metrics = {}, .why = {}, .seconds = {}};
    end.why = fmt::format("{}; it was paused, and {}", study_.state().record(trial).why, why);
    if (const auto look = runner_.look(job); look.ok() && look->end) end.seconds = look->end->seconds;
    complete_trial(study_.state().history(), last_look(study_.state().history(), trial), end);
    TRAINWARDEN_RETURN_IF_ERROR(finish(trial, std::move(end)));
  }
  return {};
}

Status PausedTrials::finish(std::size_t trial, TrialEnd end) {
  rests_.erase(trial);
  TRAINWARDEN_RETURN_IF_ERROR(study_.finish(static_cast<std::int64_t>(trial), end));
  if (notices_.ended) notices_.ended(trial);
  return {};
}

}  // namespace trainwarden::tune
