#include "rules/engine.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/log.h"
#include "base/pause.h"
#include "rules/registry.h"
#include "rules/trial_window.h"
#include "rules/verdict_context.h"
#include "trial/trial_access.h"

namespace trainwarden::rules {
namespace {

constexpr std::int64_t kSilenceIntervalNs = 200'000'000;

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
    if (kind != nullptr) rules.back().consequences = kind->description.consequences;
  }
  return rules;
}

Engine::Engine(Trial& trial, std::vector<EngineRule> rules, const EngineOptions& options, VerdictCallback on_verdict)
    : trial_(trial), options_(options), on_verdict_(std::move(on_verdict)) {
  const std::vector<std::string> ids = rule_ids(rules);
  for (std::size_t i = 0; i < rules.size(); ++i) {
    runners_.emplace_back(ids[i], std::move(rules[i].spec), std::move(rules[i].rule), options.keep_going);
    consequences_.emplace(&runners_.back(), std::move(rules[i].consequences));
  }
  if (options.journal_storage != nullptr) open_journal(*options.journal_storage);
  for (const RuleStatusRecord& status : statuses()) append(-1, encode_rule_status(status));
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
  for (const std::int64_t step : trial_.complete_steps_after(last_judged_step_)) {
    if (stop.stop_requested() || finished_) break;
    judge(step);
  }
  if (!stop.stop_requested() && !finished_ && trial_.state() == RunState::kRunning) judge_silence();
  return refreshed;
}

// All rules judge before any is told, since one may explain what another one saw.
void Engine::judge(std::int64_t global_step) {
  last_judged_step_ = global_step;
  const TrialWindow window(trial_, global_step, &memory_);
  std::vector<std::pair<RuleRunner*, RuleNews>> all_news;
  for (RuleRunner& runner : runners_) {
    if (runner.active()) all_news.emplace_back(&runner, runner.judge(window, options_.clock->unix_ns()));
  }
  for (auto& [runner, news] : all_news) take(*runner, std::move(news));
}

void Engine::judge_silence() {
  const std::int64_t now_ns = options_.clock->steady_ns();
  if (now_ns - last_silence_ns_ < kSilenceIntervalNs) return;
  last_silence_ns_ = now_ns;
  const std::int64_t last_ns = trial_.last_unix_ns() > 0 ? trial_.last_unix_ns() : trial_.created_unix_ns();
  const Silence silence{trial_, last_judged_step_, last_ns, options_.clock->unix_ns()};
  for (RuleRunner& runner : runners_) {
    if (runner.active()) take(runner, runner.judge_silence(silence));
  }
}

void Engine::take(RuleRunner& runner, RuleNews news) {
  if (news.verdict) {
    const RuleRunner* const cause = cause_of(runners_, consequences_, runner, news.verdict->place.global_step);
    if (cause != nullptr) runner.attribute(news, cause->id());
    if (is_muted(*news.verdict, options_.mute)) runner.mute(news);
  }
  tell(news);
}

void Engine::tell(const RuleNews& news) {
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
  return trial_.loaded_all_steps() && trial_.last_complete_step() <= last_judged_step_;
}

bool Engine::all_decided() const {
  return std::none_of(runners_.begin(), runners_.end(), [](const RuleRunner& runner) { return runner.active(); });
}

void Engine::finish() {
  if (std::exchange(finished_, true)) return;
  const RunnerEnd end = run_ended() ? RunnerEnd::kRunEnded : RunnerEnd::kEngineStopped;
  if (end == RunnerEnd::kEngineStopped) {
    for (RuleRunner& runner : runners_) tell(runner.begin_stop(options_.clock->unix_ns()));
  }
  for (RuleRunner& runner : runners_) tell(runner.end(end, options_.clock->unix_ns()));
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
