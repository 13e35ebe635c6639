#include "judge/rules/timeline/timeline.h"

#include <algorithm>

#include <fmt/format.h>

#include "read/trial/trial_access.h"

namespace trainwarden::rules {
namespace {

// So much is read at once of a recorded run.
constexpr std::int64_t kReadAheadNs = 60'000'000'000;
constexpr std::size_t kMaxNotedSteps = 100'000;  // between two windows

// The first multiple of the cadence behind `unix_ns`.
std::int64_t end_after(std::int64_t unix_ns, std::int64_t cadence_ns) {
  const std::int64_t past = unix_ns % cadence_ns;
  return unix_ns - past + (past < 0 ? 0 : cadence_ns);
}

}  // namespace

Status Timeline::add(const TimeSchedule& schedule) {
  const auto fits = [](std::int64_t length_ns) { return length_ns > 0 && length_ns <= kMaxWindowNs; };
  if (!fits(schedule.window_ns) || !fits(schedule.cadence_ns)) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("windows of time: expected a length and a cadence of 1 ns to 366 days, found {} and {} ns",
                    schedule.window_ns, schedule.cadence_ns));
  }
  TRAINWARDEN_RETURN_IF_ERROR(rings_.add(schedule.metrics));
  asked_.push_back({schedule});
  return Status();
}

void Timeline::drop(std::size_t rule) {
  if (!asked_[rule].active) return;
  asked_[rule].active = false;
  rings_.drop(rule);
}

bool Timeline::empty() const {
  return std::none_of(asked_.begin(), asked_.end(), [](const Asked& asked) { return asked.active; });
}

bool Timeline::drained() const {
  if (!run_ended_) return false;
  if (!begun_) return true;
  return std::all_of(asked_.begin(), asked_.end(), [](const Asked& asked) { return !asked.active || asked.finished; });
}

// Who goes on sampling may still write what lies before its newest sample, but not by much.
Status Timeline::refresh(bool run_ended) {
  rings_.find_metrics(trial_);
  std::optional<std::int64_t> first, waited;
  for (trial::SampledJournal* journal : TrialAccess::steadily_sampled(trial_)) {
    if (!journal->readable()) continue;
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto times, journal->reader().sample_times());
    if (!times) continue;
    const std::int64_t last = std::clamp(times->last_unix_ns, kFirstUnixNs, kLastUnixNs);
    first = std::min(first.value_or(kLastUnixNs), std::clamp(times->first_unix_ns, kFirstUnixNs, kLastUnixNs));
    last_unix_ns_ = std::max(last_unix_ns_, last);
    const bool lives = !run_ended && journal->life().writing && !journal->life().run_end;
    if (!lives || clock_.unix_ns() - last >= kSilentSamplerNs) continue;
    const std::int64_t complete = last - kLateSamplesNs;
    waited = std::min(waited.value_or(complete), complete);
  }
  run_ended_ = run_ended;
  if (!first) return Status();
  if (!begun_) begin(*first);
  complete_unix_ns_ = std::max(complete_unix_ns_, waited.value_or(last_unix_ns_ + 1));
  return Status();
}

void Timeline::begin(std::int64_t first_unix_ns) {
  begun_ = true;
  read_unix_ns_ = complete_unix_ns_ = first_unix_ns;
  read_ahead_ns_ = kReadAheadNs;
  for (Asked& asked : asked_) {
    asked.next_end = end_after(first_unix_ns, asked.schedule.cadence_ns);
    asked.given_until = first_unix_ns;
  }
}

void Timeline::note_step(std::int64_t global_step, std::int64_t ended_unix_ns) {
  steps_.push_back({global_step, ended_unix_ns});
  if (steps_.size() > kMaxNotedSteps) steps_.pop_front();
}

Result<std::optional<DueWindows>> Timeline::next(std::int64_t until_unix_ns) {
  if (!begun_) return std::optional<DueWindows>();
  forget();
  DueWindows due;
  for (std::size_t rule = 0; rule < asked_.size(); ++rule) {
    if (!asked_[rule].active || asked_[rule].finished) continue;
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto end, find_end(rule, until_unix_ns));
    if (!end) continue;
    if (!due.rules.empty() && *end > due.to_unix_ns) continue;
    if (due.rules.empty() || *end < due.to_unix_ns) due = {*end, {}};
    due.rules.push_back(rule);
  }
  if (due.rules.empty()) return std::optional<DueWindows>();
  for (const std::size_t rule : due.rules) give(asked_[rule], due.to_unix_ns);
  return std::optional(std::move(due));
}

// The end of the rule's next window that has a sample.
Result<std::optional<std::int64_t>> Timeline::find_end(std::size_t rule, std::int64_t until_unix_ns) {
  Asked& asked = asked_[rule];
  const std::int64_t limit = std::min(until_unix_ns, complete_unix_ns_);
  while (asked.next_end <= limit) {
    TRAINWARDEN_RETURN_IF_ERROR(read_up_to(asked.next_end));
    const auto first = rings_.first_from(rule, asked.next_end - asked.schedule.window_ns);
    if (first && *first < asked.next_end) return std::optional(asked.next_end);
    asked.next_end = end_after(first.value_or(read_unix_ns_), asked.schedule.cadence_ns);
  }
  if (!run_ended_ || asked.next_end <= complete_unix_ns_) return std::optional<std::int64_t>();
  TRAINWARDEN_RETURN_IF_ERROR(read_up_to(complete_unix_ns_));
  return last_end(rule, until_unix_ns);
}

// What came behind the last multiple of the cadence is in a window that ends with the run.
std::optional<std::int64_t> Timeline::last_end(std::size_t rule, std::int64_t until_unix_ns) {
  Asked& asked = asked_[rule];
  const std::int64_t end = last_unix_ns_ + 1;
  if (end > until_unix_ns) return std::nullopt;
  if (rings_.first_from(rule, std::max(asked.given_until, end - asked.schedule.window_ns))) return end;
  asked.finished = true;
  return std::nullopt;
}

void Timeline::give(Asked& asked, std::int64_t end) {
  asked.given_until = end;
  asked.finished = end != asked.next_end;
  asked.next_end = end_after(end, asked.schedule.cadence_ns);
}

Status Timeline::read_up_to(std::int64_t unix_ns) {
  if (read_unix_ns_ >= unix_ns) return Status();
  TRAINWARDEN_RETURN_IF_ERROR(skip_gap());
  if (read_unix_ns_ >= unix_ns) return Status();
  const std::int64_t to = std::min(complete_unix_ns_, std::max(unix_ns, read_unix_ns_ + read_ahead_ns_));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::size_t read, rings_.read(read_unix_ns_, to));
  // Frames that span centuries hold no more for it.
  read_ahead_ns_ = read > 0 ? kReadAheadNs : std::min(2 * read_ahead_ns_, kLastUnixNs / 2);
  read_unix_ns_ = to;
  return Status();
}

// To the next frame that has anything: a run that was resumed after days is not looked through minute by minute.
Status Timeline::skip_gap() {
  std::int64_t next = complete_unix_ns_;
  for (trial::SampledJournal* journal : TrialAccess::steadily_sampled(trial_)) {
    if (!journal->readable()) continue;
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto times, journal->reader().sample_times(read_unix_ns_));
    if (times) next = std::min(next, times->first_unix_ns);
  }
  read_unix_ns_ = std::max(read_unix_ns_, next);
  return Status();
}

void Timeline::forget() {
  std::int64_t needed = read_unix_ns_;
  std::int64_t first_end = std::numeric_limits<std::int64_t>::max();
  for (const Asked& asked : asked_) {
    if (!asked.active || asked.finished) continue;
    // A last window may end before the next multiple of the cadence does.
    needed = std::min(needed, std::min(asked.next_end, last_unix_ns_) - asked.schedule.window_ns);
    first_end = std::min(first_end, std::min(asked.next_end, last_unix_ns_));
  }
  rings_.forget_before(needed);
  while (steps_.size() > 1 && steps_[1].unix_ns < first_end) steps_.pop_front();
}

Timeline::StepEnd Timeline::last_step_before(std::int64_t unix_ns) const {
  const auto found =
      std::find_if(steps_.rbegin(), steps_.rend(), [&](const StepEnd& step) { return step.unix_ns < unix_ns; });
  return found == steps_.rend() ? StepEnd{-1, trial_.created_unix_ns()} : *found;
}

TimeWindow Timeline::window(std::size_t rule, const DueWindows& due) {
  const std::int64_t from = due.to_unix_ns - asked_[rule].schedule.window_ns;
  series_ = rings_.series(rule, from, due.to_unix_ns);
  const StepEnd step = last_step_before(due.to_unix_ns);
  return {trial_, from, due.to_unix_ns, step.global_step, step.unix_ns, series_};
}

}  // namespace trainwarden::rules
