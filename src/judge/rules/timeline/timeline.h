// Timeline: a run's samples as windows of time, one after the other, for the rules that judge these.
//
//   timeline.add(schedule);                         // of each rule
//   timeline.refresh(run_has_ended);                // after each refresh of the trial
//   while (auto due = *timeline.next(until_unix_ns))
//     for (std::size_t rule : due->rules) ... timeline.window(rule, *due)
//
// A window ends at each multiple of its rule's cadence, and comes when all of its samples have: the same windows come
// beside a live run and over the recorded one. Those in which none of the rule's metrics was sampled are passed over.
// When the run has ended, a last window ends behind the last sample. Only what open windows need is held in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <vector>

#include "core/base/clock.h"
#include "judge/rules/timeline/sample_rings.h"
#include "trainwarden/rule.h"
#include "trainwarden/status.h"
#include "trainwarden/trial.h"

namespace trainwarden::rules {

// Samples that are written later than others of the same worker by so much are not waited for.
inline constexpr std::int64_t kLateSamplesNs = 1'000'000'000;
// Nor is a worker that lives and has sampled nothing for so long.
inline constexpr std::int64_t kSilentSamplerNs = 30'000'000'000;

// Ticks that lie outside of these are nobody's: from 1970 to 2116.
inline constexpr std::int64_t kFirstUnixNs = 0;
inline constexpr std::int64_t kLastUnixNs = std::int64_t{1} << 62;
inline constexpr std::int64_t kMaxWindowNs = std::int64_t{366} * 24 * 3600 * 1'000'000'000;

// A moment at which windows end.
struct DueWindows {
  std::int64_t to_unix_ns = 0;
  std::vector<std::size_t> rules;  // as add() numbered them
};

// One thread at a time.
class Timeline {
 public:
  // Both must outlive it.
  Timeline(Trial& trial, const Clock& clock) : trial_(trial), clock_(clock) {}

  // Rules are numbered from 0. kInvalidArgument for a bad pattern, and for lengths that are not above 0 or
  // more than a year.
  Status add(const TimeSchedule& schedule);
  void drop(std::size_t rule);  // it is asked no more
  bool empty() const;           // no rule is left

  // Finds out what has been sampled since. The storage's errors; call again.
  Status refresh(bool run_ended);
  // A step that was judged; the steps come in rising order.
  void note_step(std::int64_t global_step, std::int64_t ended_unix_ns);

  // The next windows that end at `until_unix_ns` or before; none when there are none, or when samples of theirs may
  // still come. The storage's errors; kResourceExhausted when the windows do not fit into memory.
  Result<std::optional<DueWindows>> next(std::int64_t until_unix_ns = std::numeric_limits<std::int64_t>::max());
  // Of one of the rules. Valid until the next call of anything here.
  TimeWindow window(std::size_t rule, const DueWindows& due);
  // The run has ended, and each of its windows was given.
  bool drained() const;

 private:
  struct Asked {
    TimeSchedule schedule;
    std::int64_t next_end = 0;     // of the window that is looked at next
    std::int64_t given_until = 0;  // samples before it were in a window
    bool active = true;
    bool finished = false;  // it had the run's last window
  };
  struct StepEnd {
    std::int64_t global_step = -1;
    std::int64_t unix_ns = 0;
  };

  void begin(std::int64_t first_unix_ns);
  Result<std::optional<std::int64_t>> find_end(std::size_t rule, std::int64_t until_unix_ns);
  std::optional<std::int64_t> last_end(std::size_t rule, std::int64_t until_unix_ns);
  void give(Asked& asked, std::int64_t end);
  Status read_up_to(std::int64_t unix_ns);
  Status skip_gap();
  void forget();
  StepEnd last_step_before(std::int64_t unix_ns) const;

  Trial& trial_;
  const Clock& clock_;
  std::vector<Asked> asked_;
  SampleRings rings_;
  std::vector<MetricSeries> series_;  // of the last window()
  std::deque<StepEnd> steps_;
  bool begun_ = false;  // there are samples
  bool run_ended_ = false;
  std::int64_t last_unix_ns_ = 0;      // of the newest sample
  std::int64_t complete_unix_ns_ = 0;  // no sample before it is still to come
  std::int64_t read_unix_ns_ = 0;      // those before it are in the rings, or needed no more
  std::int64_t read_ahead_ns_ = 0;
};

}  // namespace trainwarden::rules
