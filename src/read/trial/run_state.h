// Whether a run goes on, from what is known of its workers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "data/format/run_event.h"
#include "trainwarden/trial.h"

namespace trainwarden::trial {

// What one worker's journal and lock show.
struct WorkerLife {
  bool writing = false;      // a living process holds the journal's lock
  bool has_written = false;  // at least one step, event or sample
  std::optional<format::RunEndEvent> run_end{};

  // It will write no more, for all that can be seen: it said so, or its process is gone. `run_age_ns`: since the run
  // was created, as one that has not written yet may be about to.
  bool ended(std::int64_t run_age_ns) const;
};

// A run in which nobody has written anything yet counts as running for this long after its creation.
inline constexpr std::int64_t kStartUpNs = 10'000'000'000;

// `workers`: those that have a journal, of `world_size`.
RunState run_state(std::span<const WorkerLife> workers, int world_size, std::int64_t age_ns);

}  // namespace trainwarden::trial
