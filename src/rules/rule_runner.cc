#include "rules/rule_runner.h"

#include <exception>
#include <utility>

#include <fmt/format.h>

namespace trainwarden::rules {

RuleRunner::RuleRunner(std::string id, RuleSpec spec, std::unique_ptr<Rule> rule, bool keep_going)
    : id_(std::move(id)), spec_(std::move(spec)), rule_(std::move(rule)), keep_going_(keep_going) {}

bool RuleRunner::active() const {
  return status_ == RuleStatus::kInProgress || (status_ == RuleStatus::kIssuesFound && keep_going_);
}

Verdict RuleRunner::evaluate(Trial& trial, std::int64_t global_step) {
  try {
    return rule_->evaluate(StepWindow(trial, global_step));
  } catch (const std::exception& error) {
    return Verdict::error(fmt::format("the rule threw: {}", error.what()));
  } catch (...) {
    return Verdict::error("the rule threw something that is no std::exception");
  }
}

RuleNews RuleRunner::judge(Trial& trial, std::int64_t global_step, std::int64_t now_unix_ns) {
  const StepPlace place = place_of(trial, global_step);
  VerdictRecord record{id_, spec_.name, spec_.parameters, place, now_unix_ns, evaluate(trial, global_step)};
  ++outcomes_[static_cast<std::size_t>(record.verdict.outcome)];
  RuleNews news;
  bool changed = false;
  switch (record.verdict.outcome) {
    case Outcome::kOk: news.repeats = end_streak(now_unix_ns); break;
    case Outcome::kNotApplicable:
    case Outcome::kInsufficientData: last_excuse_ = record.verdict.message; break;
    case Outcome::kFired:
      changed = change_status(RuleStatus::kIssuesFound,
                              fmt::format("fired at {}: {}", step_text(place), record.verdict.message));
      take_fired(record, news);
      break;
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

void RuleRunner::take_fired(const VerdictRecord& record, RuleNews& news) {
  if (!first_fired_) first_fired_ = record;
  if (streak_) {
    streak_->last_step = record.place.global_step;
    ++streak_->repeats;
    return;
  }
  streak_ = Streak{record.place.global_step, record.place.global_step, 0};
  news.verdict = record;
}

std::optional<RepeatsRecord> RuleRunner::end_streak(std::int64_t now_unix_ns) {
  const auto streak = std::exchange(streak_, std::nullopt);
  if (!streak || streak->repeats == 0) return std::nullopt;
  return RepeatsRecord{id_, Outcome::kFired, streak->first_step, streak->last_step, streak->repeats, now_unix_ns};
}

RuleNews RuleRunner::end(RunnerEnd end, std::int64_t now_unix_ns) {
  RuleNews news;
  news.repeats = end_streak(now_unix_ns);
  if (status_ != RuleStatus::kInProgress) return news;
  settle(end);
  news.status = status(now_unix_ns);
  return news;
}

void RuleRunner::settle(RunnerEnd end) {
  if (end == RunnerEnd::kEngineStopped) {
    change_status(RuleStatus::kStopped, fmt::format("stopped before the run ended; {}", progress_text()));
  } else if (steps_with(Outcome::kOk) > 0) {
    change_status(RuleStatus::kNoIssuesFound, progress_text());
  } else {
    change_status(RuleStatus::kNotApplicable, nothing_found_text());
  }
}

// A first firing is what the details tell for ever.
bool RuleRunner::change_status(RuleStatus status, std::string details) {
  if (status == status_) return false;
  status_ = status;
  details_ = std::move(details);
  return true;
}

std::uint64_t RuleRunner::judged_steps() const {
  return steps_with(Outcome::kOk) + steps_with(Outcome::kFired);
}

std::string RuleRunner::progress_text() const {
  const std::uint64_t judged = judged_steps();
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
