#include "tune/conduct/conductor.h"

#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "core/base/host_name.h"
#include "tune/conduct/thin_series.h"
#include "tune/conduct/trial_metrics.h"

namespace trainwarden::tune {
namespace {

constexpr const char* kConductorLease = "conductor";

}  // namespace

std::string job_of_trial(const std::string& study, std::int64_t trial, int attempt) {
  return attempt <= 1 ? fmt::format("{}-{}", study, trial) : fmt::format("{}-{}-{}", study, trial, attempt);
}

Conductor::Conductor(Study& study, TrialSampler& sampler, TrialPruner* pruner, TrialRunner& runner,
                     ConductorNotices notices, std::unique_ptr<storage::Lease> lease)
    : study_(study),
      sampler_(sampler),
      pruner_(pruner),
      runner_(runner),
      notices_(std::move(notices)),
      lease_(std::move(lease)),
      paused_(study, pruner, runner, notices_) {}

Result<Conductor> Conductor::take(Study& study, TrialSampler& sampler, TrialPruner* pruner, TrialRunner& runner,
                                  const Clock& clock, ConductorNotices notices) {
  auto lease = storage::take_lease(study.place().storage(), kConductorLease, clock);
  if (lease.status().code() == Code::kAlreadyExists) {
    return Status(Code::kAlreadyExists, fmt::format("another process runs the trials of study {}: {}",
                                                    study.spec().name, lease.status().message()));
  }
  TRAINWARDEN_RETURN_IF_ERROR(lease.status());
  return Conductor(study, sampler, pruner, runner, std::move(notices), *std::move(lease));
}

std::string Conductor::worker() const {
  return fmt::format("{}:{}", host_name(), ::getpid());
}

// Those that somebody else asked for run by no job, and are theirs.
std::vector<std::size_t> Conductor::running() const {
  std::vector<std::size_t> running;
  const auto& trials = study_.state().history().trials;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (trials[i].state == TrialState::kRunning && !study_.state().record(i).job.empty()) running.push_back(i);
  }
  return running;
}

Status Conductor::step() {
  TRAINWARDEN_RETURN_IF_ERROR(lease_->beat());
  TRAINWARDEN_RETURN_IF_ERROR(study_.refresh());
  for (const std::size_t trial : running()) TRAINWARDEN_RETURN_IF_ERROR(follow(trial));
  TRAINWARDEN_RETURN_IF_ERROR(paused_.follow());
  TRAINWARDEN_RETURN_IF_ERROR(start_trials());
  open_ = running().size() + paused_.count();
  return {};
}

Status Conductor::follow(std::size_t trial) {
  const std::string job = study_.state().record(trial).job;
  const auto look = runner_.look(job);
  if (look.status().code() == Code::kNotFound) return start_trial(static_cast<std::int64_t>(trial));
  if (!look.ok()) {
    if (notices_.trouble) notices_.trouble(look.status().with_context(job));
    return {};
  }
  TRAINWARDEN_RETURN_IF_ERROR(report_new(trial, *look));
  if (look->end) return end_trial(trial, *look->end, *look);
  TrialEnd pruned{.state = TrialState::kPruned, .metrics = {}, .why = look->verdict, .seconds = {}};
  pruned.by_verdict = !look->verdict.empty();
  if (pruned.why.empty() && pruner_ != nullptr) {
    const PruneAnswer answer = pruner_->judge(study_.state().history(), trial);
    if (answer.pause) return paused_.pause(trial, answer.why);
    if (!answer.prune && answer.rung > 0) {
      return study_.promote(static_cast<std::int64_t>(trial), answer.rung, worker(), answer.why);
    }
    if (!answer.prune) return {};
    pruned.why = answer.why;
  }
  if (pruned.why.empty()) return {};
  const Status stopped = runner_.stop(job, pruned.why);
  if (!stopped.ok() && notices_.trouble) notices_.trouble(stopped.with_context(job));
  return end_trial(trial, std::move(pruned), *look);
}

Status Conductor::report_new(std::size_t trial, const TrialLook& look) {
  const History& history = study_.state().history();
  std::map<std::int64_t, StepReport> reports;
  for (std::size_t i = 0; i < history.metrics.size(); ++i) {
    const auto series = look.series.find(history.metrics[i].name);
    if (series == look.series.end()) continue;
    const auto& kept = history.trials[trial].series[i];
    for (const Intermediate& each :
         values_to_keep(series->second, kept.empty() ? -1 : kept.back().step, look.end.has_value())) {
      reports[each.step].step = each.step;
      reports[each.step].metrics[history.metrics[i].name] = each.value;
    }
  }
  std::vector<StepReport> steps;
  for (auto& [step, report] : reports) steps.push_back(std::move(report));
  return steps.empty() ? Status() : study_.report(static_cast<std::int64_t>(trial), steps);
}

Status Conductor::end_trial(std::size_t trial, TrialEnd end, const TrialLook& look) {
  complete_trial(study_.state().history(), look, end);
  TRAINWARDEN_RETURN_IF_ERROR(study_.finish(static_cast<std::int64_t>(trial), end));
  if (notices_.ended) notices_.ended(trial);
  return {};
}

// Paused trials come first: what has been paid for them is not to be in vain.
Status Conductor::start_trials() {
  const auto parallel = static_cast<std::size_t>(study_.spec().parallel);
  while (running().size() + paused_.stopping() < parallel) {
    const bool is_last = drained_ && running().empty();
    TRAINWARDEN_ASSIGN_OR_RETURN(const PausedTrials::Next next, paused_.promote_next(worker(), is_last));
    if (next == PausedTrials::Next::kPromoted) continue;
    if (next == PausedTrials::Next::kStops) return {};
    if (is_last) return paused_.give_up(study_.end_of_promotions().value_or(why_over_));
    if (drained_) return {};
    TRAINWARDEN_ASSIGN_OR_RETURN(const bool started, start_another());
    if (!started && !drained_) return {};
  }
  return {};
}

// False: none can start now, or, where it is drained from now on, at all.
Result<bool> Conductor::start_another() {
  const std::string& name = study_.spec().name;
  AskOptions options{.worker = worker(), .fingerprint = runner_.fingerprint()};
  options.job_of = [&name](std::int64_t number, int attempt) { return job_of_trial(name, number, attempt); };
  options.answered = [this](std::int64_t number) {
    if (notices_.ended) notices_.ended(static_cast<std::size_t>(number));
  };
  const auto trial = study_.ask(sampler_, options);
  if (trial.status().code() == Code::kUnavailable) return false;
  if (trial.status().code() == Code::kResourceExhausted) {
    drained_ = true;
    why_over_ = trial.status().message();
    return false;
  }
  TRAINWARDEN_RETURN_IF_ERROR(trial.status());
  TRAINWARDEN_RETURN_IF_ERROR(start_trial(*trial));
  return true;
}

Status Conductor::start_trial(std::int64_t trial) {
  const auto index = static_cast<std::size_t>(trial);
  const History& history = study_.state().history();
  const std::string job = study_.state().record(index).job;
  const Status started = runner_.start(job, history.space.values_of(history.trials[index].point));
  if (started.ok() || started.code() == Code::kAlreadyExists) {
    if (notices_.started) notices_.started(index);
    return {};
  }
  if (notices_.trouble) notices_.trouble(started.with_context(job));
  // Nobody knows whether it was taken: where it is there, the next look will tell.
  if (started.code() == Code::kUnavailable && runner_.look(job).status().code() != Code::kNotFound) return {};
  return end_trial(index, {.state = TrialState::kFailed, .metrics = {}, .why = started.message(), .seconds = {}}, {});
}

Status Conductor::stop_all(const std::string& why) {
  for (const std::size_t trial : running()) {
    const std::string job = study_.state().record(trial).job;
    const auto look = runner_.look(job);
    const Status stopped = runner_.stop(job, why);
    if (!stopped.ok() && notices_.trouble) notices_.trouble(stopped.with_context(job));
    TRAINWARDEN_RETURN_IF_ERROR(end_trial(trial,
                                          {.state = TrialState::kFailed, .metrics = {}, .why = why, .seconds = {}},
                                          look.ok() ? *look : TrialLook()));
  }
  open_ = 0;
  return paused_.give_up(why);
}

}  // namespace trainwarden::tune
