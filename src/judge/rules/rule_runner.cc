#include "judge/rules/rule_runner.h"

#include <exception>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/rule_status.h"

namespace trainwarden::rules {
namespace {

// What `judge` (→ Verdict) answers; an error verdict when it throws.
template <class Judge>
Verdict caught(Judge judge) {
  try {
    return judge();
  } catch (const std::exception& error) {
    return Verdict::error(fmt::format("the rule threw: {}", error.what()));
  } catch (...) {
    return Verdict::error("the rule threw something that is no std::exception");
  }
}

std::uint64_t count_of(const OutcomeCounts& counts, Outcome outcome) {
  return counts[static_cast<std::size_t>(outcome)];
}

std::uint64_t all(const OutcomeCounts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

std::uint64_t judged(const OutcomeCounts& counts) {
  return count_of(counts, Outcome::kOk) + count_of(counts, Outcome::kFired);
}

}  // namespace

RuleRunner::RuleRunner(std::string id, RuleSpec spec, std::unique_ptr<Rule> rule, bool keep_going)
    : id_(std::move(id)),
      spec_(std::move(spec)),
      rule_(std::move(rule)),
      schedule_(rule_->schedule()),
      keep_going_(keep_going) {}

bool RuleRunner::active() const {
  return status_ == RuleStatus::kInProgress || (status_ == RuleStatus::kIssuesFound && keep_going_);
}

VerdictRecord RuleRunner::record_of(const StepPlace& place, Verdict verdict, std::int64_t now_unix_ns) const {
  return {.rule_id = id_,
          .rule = spec_.name,
          .parameters = spec_.parameters,
          .place = place,
          .unix_ns = now_unix_ns,
          .verdict = std::move(verdict)};
}

RuleNews RuleRunner::judge(const StepWindow& window, std::int64_t now_unix_ns) {
  if (!rule_->judges_steps()) return {};
  return take(record_of(place_of(window), caught([&] { return rule_->evaluate(window); }), now_unix_ns));
}

RuleNews RuleRunner::judge_time(const TimeWindow& window, std::int64_t now_unix_ns) {
  Verdict verdict = caught([&] { return rule_->evaluate_time(window); });
  if (!schedule_->metrics.patterns.empty()) return take(record_of(place_of(window), std::move(verdict), now_unix_ns));
  if (verdict.outcome != Outcome::kFired && verdict.outcome != Outcome::kError) return {};
  return take(record_of(place_of(window.trial, window.last_step), std::move(verdict), now_unix_ns));
}

RuleNews RuleRunner::conclude(const StepPlace& last, std::int64_t now_unix_ns) {
  if (status_ != RuleStatus::kInProgress) return {};
  Verdict verdict = caught([&] { return rule_->conclude(); });
  if (verdict.outcome != Outcome::kFired && verdict.outcome != Outcome::kError) return {};
  return take(record_of(last, std::move(verdict), now_unix_ns));
}

RuleNews RuleRunner::fail(const StepPlace& place, std::string message, std::int64_t now_unix_ns) {
  return take(record_of(place, Verdict::error(std::move(message)), now_unix_ns));
}

RuleNews RuleRunner::take(VerdictRecord record) {
  const std::int64_t now_unix_ns = record.unix_ns;
  const StepPlace place = record.place;
  Verdict& verdict = record.verdict;
  record.weighed = is_weighed_ && verdict.outcome == Outcome::kFired && verdict.severity != Severity::kInfo;
  if (record.weighed) verdict.severity = Severity::kInfo;
  ++(place.is_time() ? windows_ : outcomes_)[static_cast<std::size_t>(record.verdict.outcome)];
  RuleNews news;
  news.examine_reason = std::exchange(verdict.examine_reason, {});
  bool changed = false;
  switch (record.verdict.outcome) {
    case Outcome::kOk: news.repeats = end_streak(now_unix_ns); break;
    case Outcome::kNotApplicable:
    case Outcome::kInsufficientData: last_excuse_ = record.verdict.message; break;
    case Outcome::kFired: changed = take_fired(record, news); break;
    case Outcome::kError:
      changed =
          change_status(RuleStatus::kError, fmt::format("failed at {}: {}", place_text(place), record.verdict.message));
      news.repeats = end_streak(now_unix_ns);
      news.verdict = std::move(record);
      break;
  }
  if (changed) news.status = status(now_unix_ns);
  return news;
}

// True when the status changed.
bool RuleRunner::take_fired(const VerdictRecord& record, RuleNews& news) {
  const Severity severity = record.verdict.severity;
  const std::int64_t step = record.place.global_step;
  if (streak_ && severity <= streak_->severity) {
    streak_->last_step = step;
    streak_->last_to_unix_ns = record.place.to_unix_ns;
    ++streak_->repeats;
  } else {
    news.repeats = end_streak(record.unix_ns);
    streak_ = Streak{step, step, record.place.to_unix_ns, record.place.to_unix_ns, 0, severity};
    news.verdict = record;
  }
  if (severity == Severity::kInfo) {
    ++notes_;
    return false;
  }
  last_fired_step_ = step;
  if (!first_fired_) first_fired_ = record;
  return change_status(RuleStatus::kIssuesFound,
                       fmt::format("fired at {}: {}", place_text(record.place), record.verdict.message));
}

void RuleRunner::attribute(RuleNews& news, const std::string& cause_id) {
  if (!news.verdict || news.verdict->verdict.outcome != Outcome::kFired) return;
  news.verdict->consequence_of = cause_id;
  const std::int64_t step = news.verdict->place.global_step;
  if (!first_fired_ || first_fired_->place.global_step != step) return;
  first_fired_->consequence_of = cause_id;
  if (!news.status) return;
  details_ += fmt::format(" (It follows from {}.)", cause_id);
  news.status->details = details_;
}

std::optional<RepeatsRecord> RuleRunner::end_streak(std::int64_t now_unix_ns) {
  const auto streak = std::exchange(streak_, std::nullopt);
  if (!streak || streak->repeats == 0) return std::nullopt;
  return RepeatsRecord{.rule_id = id_,
                       .outcome = Outcome::kFired,
                       .first_step = streak->first_step,
                       .last_step = streak->last_step,
                       .count = streak->repeats,
                       .unix_ns = now_unix_ns,
                       .first_to_unix_ns = streak->first_to_unix_ns,
                       .last_to_unix_ns = streak->last_to_unix_ns};
}

void RuleRunner::mute(RuleNews& news) {
  if (!news.verdict) return;
  news.verdict->muted = true;
  if (first_fired_ && first_fired_->place == news.verdict->place) first_fired_->muted = true;
}

RuleNews RuleRunner::begin_stop(std::int64_t now_unix_ns) {
  RuleNews news;
  if (change_status(RuleStatus::kStopping, "stopping before the run has ended")) news.status = status(now_unix_ns);
  return news;
}

RuleNews RuleRunner::end(RunnerEnd end, std::int64_t now_unix_ns) {
  RuleNews news;
  news.repeats = end_streak(now_unix_ns);
  if (status_ != RuleStatus::kInProgress && status_ != RuleStatus::kStopping) return news;
  settle(end);
  news.status = status(now_unix_ns);
  return news;
}

void RuleRunner::settle(RunnerEnd end) {
  if (end == RunnerEnd::kEngineStopped) {
    change_status(RuleStatus::kStopped, fmt::format("stopped before the run ended; {}", progress_text()));
  } else if (judged(outcomes_) + judged(windows_) > 0) {
    change_status(RuleStatus::kNoIssuesFound, progress_text());
  } else {
    change_status(RuleStatus::kNotApplicable, nothing_found_text());
  }
}

// A first firing is what the details show forever.
bool RuleRunner::change_status(RuleStatus status, std::string details) {
  if (!may_follow(status_, status)) return false;
  status_ = status;
  details_ = std::move(details);
  return true;
}

// "10 steps", "10 steps and 3 windows of time"; empty when there is none.
std::string RuleRunner::judged_text() const {
  std::string text;
  if (judged(outcomes_) > 0) text = fmt::format("{} steps", judged(outcomes_));
  if (judged(windows_) == 0) return text;
  return fmt::format("{}{}{} windows of time", text, text.empty() ? "" : " and ", judged(windows_));
}

std::string RuleRunner::progress_text() const {
  const std::string judged = judged_text();
  if (!judged.empty() && notes_ > 0) return fmt::format("judged {}: {} worth a note, no issue", judged, notes_);
  if (!judged.empty()) return fmt::format("judged {}, nothing found", judged);
  const char* what = rule_->judges_steps() ? "step" : "window of time";
  return last_excuse_.empty() ? fmt::format("no {} to judge yet", what)
                              : fmt::format("no {} judged yet: {}", what, last_excuse_);
}

std::string RuleRunner::nothing_found_text() const {
  // Of a rule that judges both, by what there was.
  const bool of_steps = rule_->judges_steps() && (all(outcomes_) > 0 || all(windows_) == 0);
  const OutcomeCounts& counts = of_steps ? outcomes_ : windows_;
  const char* what = of_steps ? "steps" : "windows of time";
  const std::uint64_t insufficient = count_of(counts, Outcome::kInsufficientData);
  if (insufficient > 0) {
    return fmt::format("the run ended, and in {} {} there was never enough to judge: {}", insufficient, what,
                       last_excuse_);
  }
  const std::uint64_t not_applicable = count_of(counts, Outcome::kNotApplicable);
  if (not_applicable > 0) {
    return fmt::format("the run ended, and nothing of what it judges was captured in its {} {}: {}", not_applicable,
                       what, last_excuse_);
  }
  return of_steps ? "the run ended without a step"
                  : "the run ended, and none of the metrics that it judges was sampled";
}

RuleStatusRecord RuleRunner::status(std::int64_t now_unix_ns) const {
  return {.rule_id = id_,
          .rule = spec_.name,
          .parameters = spec_.parameters,
          .status = status_,
          .details = status_ == RuleStatus::kInProgress ? progress_text() : details_,
          .outcomes = outcomes_,
          .unix_ns = now_unix_ns,
          .windows = windows_};
}

}  // namespace trainwarden::rules
