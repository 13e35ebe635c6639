#include "rules/rule_runner.h"

#include <exception>
#include <utility>

#include <fmt/format.h>

#include "rules/rule_status.h"

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

}  // namespace

RuleRunner::RuleRunner(std::string id, RuleSpec spec, std::unique_ptr<Rule> rule, bool keep_going)
    : id_(std::move(id)), spec_(std::move(spec)), rule_(std::move(rule)), keep_going_(keep_going) {}

bool RuleRunner::active() const {
  return status_ == RuleStatus::kInProgress || (status_ == RuleStatus::kIssuesFound && keep_going_);
}

RuleNews RuleRunner::judge(const StepWindow& window, std::int64_t now_unix_ns) {
  return take({.rule_id = id_,
               .rule = spec_.name,
               .parameters = spec_.parameters,
               .place = place_of(window),
               .unix_ns = now_unix_ns,
               .verdict = caught([&] { return rule_->evaluate(window); })});
}

RuleNews RuleRunner::judge_silence(const Silence& silence) {
  std::optional<Verdict> verdict;
  Verdict failure = caught([&] {
    verdict = rule_->on_silence(silence);
    return Verdict::ok();
  });
  if (failure.outcome == Outcome::kError) verdict = std::move(failure);
  if (!verdict) return {};
  return take({.rule_id = id_,
               .rule = spec_.name,
               .parameters = spec_.parameters,
               .place = place_of(silence.trial, silence.last_step),
               .unix_ns = silence.now_unix_ns,
               .verdict = *std::move(verdict)});
}

RuleNews RuleRunner::take(VerdictRecord record) {
  const std::int64_t now_unix_ns = record.unix_ns;
  const StepPlace place = record.place;
  ++outcomes_[static_cast<std::size_t>(record.verdict.outcome)];
  RuleNews news;
  bool changed = false;
  switch (record.verdict.outcome) {
    case Outcome::kOk: news.repeats = end_streak(now_unix_ns); break;
    case Outcome::kNotApplicable:
    case Outcome::kInsufficientData: last_excuse_ = record.verdict.message; break;
    case Outcome::kFired: changed = take_fired(record, news); break;
    case Outcome::kError:
      changed =
          change_status(RuleStatus::kError, fmt::format("failed at {}: {}", step_text(place), record.verdict.message));
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
    ++streak_->repeats;
  } else {
    news.repeats = end_streak(record.unix_ns);
    streak_ = Streak{step, step, 0, severity};
    news.verdict = record;
  }
  if (severity == Severity::kInfo) {
    ++notes_;
    return false;
  }
  last_fired_step_ = step;
  if (!first_fired_) first_fired_ = record;
  return change_status(RuleStatus::kIssuesFound,
                       fmt::format("fired at {}: {}", step_text(record.place), record.verdict.message));
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
  return RepeatsRecord{id_, Outcome::kFired, streak->first_step, streak->last_step, streak->repeats, now_unix_ns};
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
  } else if (judged_steps() > 0) {
    change_status(RuleStatus::kNoIssuesFound, progress_text());
  } else {
    change_status(RuleStatus::kNotApplicable, nothing_found_text());
  }
}

// A first firing is what the details tell for ever.
bool RuleRunner::change_status(RuleStatus status, std::string details) {
  if (!may_follow(status_, status)) return false;
  status_ = status;
  details_ = std::move(details);
  return true;
}

std::uint64_t RuleRunner::judged_steps() const {
  return steps_with(Outcome::kOk) + steps_with(Outcome::kFired);
}

std::string RuleRunner::progress_text() const {
  const std::uint64_t judged = judged_steps();
  if (judged > 0 && notes_ > 0) return fmt::format("judged {} steps: {} worth a note, no issue", judged, notes_);
  if (judged > 0) return fmt::format("judged {} steps, nothing found", judged);
  return last_excuse_.empty() ? "no step to judge yet" : fmt::format("no step judged yet: {}", last_excuse_);
}

std::string RuleRunner::nothing_found_text() const {
  const std::uint64_t insufficient = steps_with(Outcome::kInsufficientData);
  if (insufficient > 0) {
    return fmt::format("the run ended, and in {} steps there was never enough to judge: {}", insufficient,
                       last_excuse_);
  }
  const std::uint64_t steps = steps_with(Outcome::kNotApplicable);
  if (steps == 0) return "the run ended without a step";
  return fmt::format("the run ended, and nothing of what it judges was captured in its {} steps: {}", steps,
                     last_excuse_);
}

RuleStatusRecord RuleRunner::status(std::int64_t now_unix_ns) const {
  return {
      id_,       spec_.name, spec_.parameters, status_, status_ == RuleStatus::kInProgress ? progress_text() : details_,
      outcomes_, now_unix_ns};
}

}  // namespace trainwarden::rules
