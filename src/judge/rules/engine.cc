#include "judge/rules/engine.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/base/log.h"
#include "core/base/pause.h"
#include "judge/rules/registry.h"
#include "judge/rules/run_diagnosis.h"
#include "judge/rules/signals.h"
#include "judge/rules/trial_window.h"
#include "judge/rules/verdict_context.h"
#include "read/trial/trial_access.h"

namespace trainwarden::rules {
namespace {

bool has_any(const StepWindow& window, const TensorSelection& selection) {
  const auto found = window.select(selection);
  return found.ok() && !found->empty();
}

// Where one process trains several models one after the other, as in cross-validation, the examination notes where the
// next one begins: what a rule remembers of the one before would look like a fault of this one.
bool begins_training(const StepWindow& window) {
  static const TensorSelection kNote{.patterns = {fmt::format("^{}$", signals::kTraining)}};
  return has_any(window, kNote);
}

bool is_examined(const StepWindow& window) {
  static const TensorSelection kExamination{.patterns = {"^trainwarden/examination/"}};
  return has_any(window, kExamination);
}

}  // namespace

std::vector<std::string> rule_ids(std::span<const EngineRule> rules) {
  std::map<std::string, int> seen;
  std::vector<std::string> ids;
  for (const EngineRule& rule : rules) {
    const int number = ++seen[rule.spec.name];
    ids.push_back(number == 1 ? rule.spec.name : fmt::format("{}-{}", rule.spec.name, number));
  }
  return ids;
}

Result<std::vector<EngineRule>> create_engine_rules(std::span<const RuleSpec> specs) {
  std::vector<EngineRule> rules;
  for (const RuleSpec& spec : specs) {
    TRAINWARDEN_ASSIGN_OR_RETURN(auto rule, create_rule(spec));
    const RuleKind* const kind = find_builtin(spec.name);
    rules.push_back({spec, std::move(rule)});
    if (kind == nullptr) continue;
    rules.back().consequences = kind->description.consequences;
    rules.back().is_symptom = kind->description.is_symptom && spec.parameters.empty();
  }
  return rules;
}

Engine::Engine(Trial& trial, std::vector<EngineRule> rules, const EngineOptions& options, VerdictCallback on_verdict)
    : trial_(trial), options_(options), on_verdict_(std::move(on_verdict)), timeline_(trial, *options.clock) {
  const std::vector<std::string> ids = rule_ids(rules);
  const bool is_diagnosed = std::find(ids.begin(), ids.end(), kDiagnosisRule) != ids.end();
  for (std::size_t i = 0; i < rules.size(); ++i) {
    runners_.emplace_back(ids[i], std::move(rules[i].spec), std::move(rules[i].rule), options.keep_going);
    consequences_.emplace(&runners_.back(), std::move(rules[i].consequences));
    if (is_diagnosed && rules[i].is_symptom) symptoms_.push_back(&runners_.back());
  }
  if (options.journal_storage != nullptr) open_journal(*options.journal_storage);
  for (const RuleStatusRecord& status : statuses()) append(-1, encode_rule_status(status));
  plan_windows();
}

void Engine::plan_windows() {
  for (RuleRunner& runner : runners_) {
    const auto& schedule = runner.schedule();
    if (!schedule) continue;
    if (schedule->metrics.patterns.empty()) {
      clock_rules_.push_back({&runner});
      continue;
    }
    const Status added = timeline_.add(*schedule);
    if (added.ok()) {
      timed_.push_back(&runner);
    } else {
      take(runner, runner.fail({}, added.to_string(), options_.clock->unix_ns()));
    }
  }
}

Engine::~Engine() {
  finish();
}

void Engine::open_journal(storage::Storage& storage) {
  journal_status_ = TrialAccess::check_writable(trial_, "a journal of verdicts");
  if (!journal_status_.ok()) {
    log(LogLevel::kInfo, "no journal: {}", journal_status_.message());
    return;
  }
  auto journal = open_watch_journal(storage, *options_.clock, TrialAccess::run_info(trial_));
  if (!journal.ok()) {
    journal_status_ = journal.status();
    log(LogLevel::kWarning, "verdicts are not written into the run: {}", journal_status_.to_string());
    return;
  }
  journal_ = *std::move(journal);
}

Status Engine::poll(std::stop_token stop) {
  const Status refreshed = trial_.refresh();
  Status windows = refresh_windows();
  for (const std::int64_t step : trial_.complete_steps_after(last_judged_step_)) {
    if (stop.stop_requested() || finished_) break;
    const std::int64_t ended = timeline_.empty() ? 0 : TrialAccess::step_unix_ns(trial_, step);
    if (windows.ok() && ended != 0) windows = judge_windows(ended, stop);
    judge(step);
    if (ended != 0) timeline_.note_step(step, ended);
  }
  if (windows.ok()) windows = judge_windows(std::numeric_limits<std::int64_t>::max(), stop);
  if (!stop.stop_requested() && !finished_ && trial_.state() == RunState::kRunning) judge_clock();
  if (journal_.writer != nullptr && !finished_) journal_.writer->beat();
  return refreshed.ok() ? windows : refreshed;
}

Status Engine::refresh_windows() {
  for (std::size_t i = 0; i < timed_.size(); ++i) {
    if (!timed_[i]->active()) timeline_.drop(i);
  }
  return timeline_.empty() ? Status() : timeline_.refresh(trial_.loaded_all_steps());
}

Status Engine::judge_windows(std::int64_t until_unix_ns, std::stop_token stop) {
  while (!timeline_.empty() && !stop.stop_requested() && !finished_) {
    const auto due = timeline_.next(until_unix_ns);
    if (due.status().code() == Code::kResourceExhausted) {
      fail_windows(due.status());
      break;
    }
    if (!due.ok()) return due.status();
    if (!*due) break;
    judge_windows_that_end(**due);
  }
  return Status();
}

// As with steps, all rules judge before any is reported.
void Engine::judge_windows_that_end(const DueWindows& due) {
  std::vector<std::pair<std::size_t, RuleNews>> all_news;
  for (const std::size_t rule : due.rules) {
    const TimeWindow window = timeline_.window(rule, due);
    all_news.emplace_back(rule, timed_[rule]->judge_time(window, options_.clock->unix_ns()));
  }
  for (auto& [rule, news] : all_news) {
    take(*timed_[rule], std::move(news));
    if (!timed_[rule]->active()) timeline_.drop(rule);
  }
}

// Their windows do not fit into memory. The rules about steps go on.
void Engine::fail_windows(const Status& status) {
  for (std::size_t i = 0; i < timed_.size(); ++i) {
    RuleRunner& runner = *timed_[i];
    if (!runner.active()) continue;
    take(runner, runner.fail(place_of(trial_, last_judged_step_), status.message(), options_.clock->unix_ns()));
    timeline_.drop(i);
  }
}

void Engine::begin_training() {
  for (RuleRunner& runner : runners_) {
    const bool is_ours = find_builtin(runner.spec().name) != nullptr;
    if (!is_ours || !runner.active() || runner.schedule() || !runner.rule().judges_steps()) continue;
    if (auto rule = create_rule(runner.spec()); rule.ok()) runner.begin_again(*std::move(rule));
  }
}

void Engine::weigh_symptoms(const StepWindow& window) {
  if (symptoms_.empty() || !is_examined(window)) return;
  for (RuleRunner* const runner : symptoms_) runner->weigh();
  symptoms_.clear();
}

// All rules judge before any is reported, since one may explain what another one saw.
void Engine::judge(std::int64_t global_step) {
  last_judged_step_ = global_step;
  const TrialWindow window(trial_, global_step, &memory_);
  if (begins_training(window)) begin_training();
  weigh_symptoms(window);
  std::vector<std::pair<RuleRunner*, RuleNews>> all_news;
  for (RuleRunner& runner : runners_) {
    if (runner.active()) all_news.emplace_back(&runner, runner.judge(window, options_.clock->unix_ns()));
  }
  for (auto& [runner, news] : all_news) take(*runner, std::move(news));
}

void Engine::judge_clock() {
  const std::int64_t steady_ns = options_.clock->steady_ns();
  const std::int64_t now = options_.clock->unix_ns();
  const std::int64_t last_ns = trial_.last_unix_ns() > 0 ? trial_.last_unix_ns() : trial_.created_unix_ns();
  for (auto& [runner, asked_ns] : clock_rules_) {
    const TimeSchedule& schedule = *runner->schedule();
    if (!runner->active() || steady_ns - asked_ns < schedule.cadence_ns) continue;
    asked_ns = steady_ns;
    take(*runner, runner->judge_time({trial_, now - schedule.window_ns, now, last_judged_step_, last_ns}, now));
  }
}

void Engine::take(RuleRunner& runner, RuleNews news) {
  if (!news.examine_reason.empty() && options_.on_examine) options_.on_examine(news.examine_reason);
  if (news.verdict) {
    const RuleRunner* const cause = cause_of(runners_, consequences_, runner, news.verdict->place.global_step);
    if (cause != nullptr) runner.attribute(news, cause->id());
    if (is_muted(*news.verdict, options_.mute)) runner.mute(news);
  }
  report(news);
}

void Engine::report(const RuleNews& news) {
  if (news.repeats) append(news.repeats->last_step, encode_repeats(*news.repeats));
  if (news.verdict) append(news.verdict->place.global_step, encode_verdict(*news.verdict));
  if (news.status) append(last_judged_step_, encode_rule_status(*news.status));
  if (news.verdict && on_verdict_) on_verdict_(*news.verdict);
}

// A failure to write is kept in journal_status(), and the engine goes on.
void Engine::append(std::int64_t global_step, const std::string& json) {
  if (journal_.writer != nullptr) {
    const Status status = journal_.writer->append_event(format::FrameKind::kVerdict, global_step, json);
    if (status.ok()) return;
    if (journal_status_.ok()) {
      journal_status_ = status;
      log(LogLevel::kError, "a verdict could not be written into journal {}: {}", journal_.name, status.to_string());
    }
  }
  if (options_.on_unwritten) options_.on_unwritten(json);
}

Status Engine::run_until_end(std::stop_token stop) {
  Status status;
  while (!stop.stop_requested()) {
    status = poll(stop);
    const bool passing = status.code() == Code::kUnavailable;
    if (run_ended() || (!status.ok() && !passing)) break;
    pause_for(options_.poll_interval, stop);
  }
  finish();
  return status.code() == Code::kUnavailable ? Status() : status;
}

bool Engine::run_ended() const {
  return trial_.loaded_all_steps() && trial_.last_complete_step() <= last_judged_step_ &&
         (timeline_.empty() || timeline_.drained());
}

bool Engine::all_decided() const {
  return std::none_of(runners_.begin(), runners_.end(), [](const RuleRunner& runner) { return runner.active(); });
}

// As with steps, all rules judge before any is reported.
void Engine::conclude() {
  const StepPlace last = place_of(trial_, last_judged_step_);
  std::vector<RuleNews> all_news;
  for (RuleRunner& runner : runners_) all_news.push_back(runner.conclude(last, options_.clock->unix_ns()));
  for (std::size_t i = 0; i < runners_.size(); ++i) take(runners_[i], std::move(all_news[i]));
}

void Engine::finish() {
  if (std::exchange(finished_, true)) return;
  const RunnerEnd end = run_ended() ? RunnerEnd::kRunEnded : RunnerEnd::kEngineStopped;
  if (end == RunnerEnd::kEngineStopped) {
    for (RuleRunner& runner : runners_) report(runner.begin_stop(options_.clock->unix_ns()));
  } else if (last_judged_step_ >= 0) {
    conclude();
  }
  for (RuleRunner& runner : runners_) report(runner.end(end, options_.clock->unix_ns()));
  if (journal_.writer == nullptr) return;
  const Status sealed = journal_.writer->seal();
  if (!sealed.ok() && journal_status_.ok()) journal_status_ = sealed;
}

std::vector<RuleStatusRecord> Engine::statuses() const {
  std::vector<RuleStatusRecord> statuses;
  for (const RuleRunner& runner : runners_) statuses.push_back(runner.status(options_.clock->unix_ns()));
  return statuses;
}

std::vector<VerdictRecord> Engine::first_fired() const {
  std::vector<VerdictRecord> fired;
  for (const RuleRunner& runner : runners_) {
    if (runner.first_fired()) fired.push_back(*runner.first_fired());
  }
  return fired;
}

}  // namespace trainwarden::rules
