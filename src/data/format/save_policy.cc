#include "trainwarden/save_policy.h"

#include <algorithm>
#include <limits>

namespace trainwarden {
namespace {

constexpr std::int64_t kLastStep = std::numeric_limits<std::int64_t>::max();

// The first multiple of `interval` at or after `step`, none past the last step there can be.
std::optional<std::int64_t> next_multiple(std::int64_t step, std::int64_t interval) {
  const std::int64_t past = step % interval;
  if (past <= 0) return step - past;
  const std::int64_t missing = interval - past;
  return step > kLastStep - missing ? std::nullopt : std::optional(step + missing);
}

// An interval below 1 is refused where policies are read; here it must only do no harm.
std::optional<std::int64_t> next_by_interval(const SaveSchedule& schedule, std::int64_t step, std::int64_t factor) {
  if (schedule.save_interval < 1 || factor < 1) return std::nullopt;
  const std::int64_t interval =
      schedule.save_interval > kLastStep / factor ? kLastStep : schedule.save_interval * factor;
  const auto next = next_multiple(std::max(step, schedule.start_step), interval);
  return next && (!schedule.end_step || *next < *schedule.end_step) ? next : std::nullopt;
}

}  // namespace

bool SaveSchedule::wants(std::int64_t step, std::int64_t interval_factor) const {
  return next_by_interval(*this, step, interval_factor) == step || lists(step);
}

bool SaveSchedule::lists(std::int64_t step) const {
  return std::find(save_steps.begin(), save_steps.end(), step) != save_steps.end();
}

std::optional<std::int64_t> SaveSchedule::next_wanted(std::int64_t step, std::int64_t interval_factor) const {
  std::optional<std::int64_t> next = next_by_interval(*this, step, interval_factor);
  for (const std::int64_t listed : save_steps) {
    if (listed >= step && (!next || listed < *next)) next = listed;
  }
  return next;
}

SavePolicy SavePolicy::every(std::int64_t save_interval) {
  return of(SaveSchedule{.save_interval = save_interval});
}

SavePolicy SavePolicy::of(const SaveSchedule& schedule) {
  SavePolicy policy;
  policy.by_mode.fill(schedule);
  return policy;
}

SavePolicy SavePolicy::filled_from(const SavePolicy& above) const {
  SavePolicy filled = *this;
  for (const Mode mode : kAllModes) {
    if (!filled[mode]) filled[mode] = above[mode];
  }
  return filled;
}

}  // namespace trainwarden
