#include "hook/guard/step_guard.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/base/log.h"
#include "data/format/json.h"
#include "hook/guard/veto_record.h"
#include "judge/rules/step_place.h"
#include "judge/rules/verdict_context.h"

namespace trainwarden::guard {
namespace {

constexpr std::array<std::string_view, 7> kLateCollections = {"weights", "biases",  "buffers", "optimizer_state",
                                                              "signals", "scalars", "default"};

bool is_late(const Collection& need) {
  return std::find(kLateCollections.begin(), kLateCollections.end(), need.name) != kLateCollections.end();
}

// It may be anything, by name.
bool is_open(const Collection& need) {
  return need.name == "all" || !need.include.empty() || !need.tensor_names.empty();
}

std::string_view consequence(StepAdvice answer) {
  switch (answer) {
    case StepAdvice::kProceed: return "";
    case StepAdvice::kSkipStep: return " The optimizer's step is left out.";
    case StepAdvice::kStop: return " The training is asked to stop.";
  }
  return "";
}

std::string sentence_of(const rules::VerdictRecord& verdict) {
  return fmt::format("{} {} at {}: {}", verdict.rule_id,
                     verdict.verdict.outcome == Outcome::kFired ? "fired" : "failed", rules::place_text(verdict.place),
                     verdict.verdict.message);
}

}  // namespace

JudgingTime judging_time(const std::vector<Collection>& needs) {
  if (needs.empty() || std::any_of(needs.begin(), needs.end(), is_open)) return JudgingTime::kBoth;
  return std::any_of(needs.begin(), needs.end(), is_late) ? JudgingTime::kStepEnd : JudgingTime::kBeforeOptimizer;
}

StepGuard::StepGuard(std::vector<rules::EngineRule> rules, GuardOptions options, const capture::JudgeSite& site)
    : options_(std::move(options)),
      clock_(site.clock),
      memory_(site.worker, site.world_size),
      journal_(options_.write_journal ? site.storage : nullptr, site.clock) {
  const std::vector<std::string> ids = rules::rule_ids(rules);
  const bool keep_going = options_.keep_going || options_.on_fire == OnFire::kSkipStep;
  const std::int64_t limit_ns = std::chrono::nanoseconds(options_.time_limit).count();
  for (std::size_t i = 0; i < rules.size(); ++i) {
    auto timed = std::make_unique<TimedRule>(std::move(rules[i].rule), limit_ns, clock_);
    TimedRule* const rule = timed.get();
    const std::vector<Collection> needs = rule->needs();
    needs_.insert(needs_.end(), needs.begin(), needs.end());
    auto& runner = runners_.emplace_back(ids[i], std::move(rules[i].spec), std::move(timed), keep_going);
    consequences_.emplace(&runner, std::move(rules[i].consequences));
    judges_.push_back({.runner = &runner, .rule = rule, .time = judging_time(needs)});
    journal_.add(format::FrameKind::kVerdict, -1, encode_rule_status(runner.status(clock_.unix_ns())));
  }
}

std::string StepGuard::announcement() const {
  std::vector<std::string> ids;
  for (const rules::RuleRunner& runner : runners_) ids.push_back(runner.id());
  return format::dump_json({{"type", "guard"}, {"rules", ids}, {"on_fire", name(options_.on_fire)}});
}

void StepGuard::begin_step(const capture::OpenStep& step) {
  if (step.id().global_step == step_) return;
  step_ = step.id().global_step;
  asked_ = false;
  seen_ = RowMark();
}

StepAdvice StepGuard::judge(const capture::OpenStep& step) {
  begin_step(step);
  const LiveWindow window(step, seen_, memory_);
  if (asked_ && window.empty()) return StepAdvice::kProceed;
  asked_ = true;
  seen_ = rows_of(step);
  const StepAdvice advice = ask(window, true, [](JudgingTime time) { return time != JudgingTime::kStepEnd; });
  if (advice != StepAdvice::kProceed) vetoes_.fetch_add(1, std::memory_order_relaxed);
  return advice;
}

StepAdvice StepGuard::step_ends(const capture::OpenStep& step) {
  begin_step(step);
  const bool asked = std::exchange(asked_, true);
  const RowMark seen = std::exchange(seen_, rows_of(step));
  StepAdvice advice;
  {
    const LiveWindow whole(step, RowMark(), memory_);
    advice = ask(whole, false, [&](JudgingTime time) { return !asked || time == JudgingTime::kStepEnd; });
  }
  if (!asked) return advice;
  const LiveWindow rest(step, seen, memory_);
  if (rest.empty()) return advice;
  return std::max(advice, ask(rest, false, [](JudgingTime time) { return time == JudgingTime::kBoth; }));
}

// All rules judge before any is reported, since one may explain what another one saw.
template <class IsAsked>
StepAdvice StepGuard::ask(const LiveWindow& window, bool may_veto, IsAsked is_asked) {
  std::vector<std::pair<Judge*, rules::RuleNews>> all_news;
  for (Judge& judge : judges_) {
    if (!judge.runner->active() || !is_asked(judge.time)) continue;
    all_news.emplace_back(&judge, judge.runner->judge(window, clock_.unix_ns()));
  }
  StepAdvice advice = StepAdvice::kProceed;
  for (auto& [judge, news] : all_news) {
    attribute(*judge, news);
    count_warnings(*judge);
    const StepAdvice answer = answer_of(*judge, may_veto);
    if (answer > advice) {
      advice = answer;
      reason_ = fmt::format("{} {}", judge->runner->id(), judge->runner->status(0).details);
      if (news.verdict) reason_ = sentence_of(*news.verdict);
    }
    record(news, answer);
  }
  return advice;
}

void StepGuard::attribute(Judge& judge, rules::RuleNews& news) const {
  if (!news.verdict) return;
  const auto* const cause = rules::cause_of(runners_, consequences_, *judge.runner, news.verdict->place.global_step);
  if (cause != nullptr) judge.runner->attribute(news, cause->id());
  judge.muted = rules::is_muted(*news.verdict, options_.mute);
  if (judge.muted) judge.runner->mute(news);
}

void StepGuard::count_warnings(Judge& judge) const {
  const bool warns = judge.rule->last_outcome() == Outcome::kFired && judge.rule->last_severity() == Severity::kWarning;
  judge.warnings_in_a_row = warns ? judge.warnings_in_a_row + 1 : 0;
  if (options_.on_fire != OnFire::kSkipStep || judge.warnings_in_a_row != options_.warnings_in_a_row + 1) return;
  log(LogLevel::kWarning,
      "{} has fired at {} steps in a row: its warnings leave out no more steps of the optimizer until it was silent "
      "once",
      judge.runner->id(), judge.warnings_in_a_row);
}

// A verdict that another one explains vetoes all the same: what it warns of would happen.
StepAdvice StepGuard::answer_of(Judge& judge, bool may_veto) const {
  const bool fired = judge.rule->last_outcome() == Outcome::kFired;
  if (!fired || judge.rule->last_severity() == Severity::kInfo || judge.muted) return StepAdvice::kProceed;
  if (options_.on_fire == OnFire::kStop) return StepAdvice::kStop;
  const bool skips = options_.on_fire == OnFire::kSkipStep && may_veto;
  return skips && judge.warnings_in_a_row <= options_.warnings_in_a_row ? StepAdvice::kSkipStep : StepAdvice::kProceed;
}

void StepGuard::record(const rules::RuleNews& news, StepAdvice answer) {
  constexpr auto kKind = format::FrameKind::kVerdict;
  if (news.repeats) journal_.add(kKind, news.repeats->last_step, encode_repeats(*news.repeats));
  if (news.verdict) journal_.add(kKind, news.verdict->place.global_step, encode_verdict(*news.verdict));
  if (news.status) journal_.add(kKind, step_, encode_rule_status(*news.status));
  if (!news.verdict) return;
  if (answer != StepAdvice::kProceed) record_action(*news.verdict, answer);
  if (news.verdict->muted) return;
  const bool note =
      news.verdict->verdict.outcome == Outcome::kFired && news.verdict->verdict.severity == Severity::kInfo;
  log(note ? LogLevel::kInfo : LogLevel::kWarning, "{}{}", sentence_of(*news.verdict), consequence(answer));
}

// Once for the first of several verdicts in a row, as they are reported.
void StepGuard::record_action(const rules::VerdictRecord& verdict, StepAdvice answer) {
  journal_.add(format::FrameKind::kAction, verdict.place.global_step, encode_veto(verdict, answer));
}

void StepGuard::finish() {
  for (rules::RuleRunner& runner : runners_) {
    record(runner.end(rules::RunnerEnd::kRunEnded, clock_.unix_ns()), StepAdvice::kProceed);
  }
  if (vetoes() > 0) log(LogLevel::kWarning, "{} steps of optimizers were vetoed inside the training", vetoes());
  journal_.finish();
}

}  // namespace trainwarden::guard
