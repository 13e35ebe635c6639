// Rules by which runs are kept, and what follows from them for the runs of a folder.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "read/retention/run_thinning.h"
#include "read/retention/stored_run.h"
#include "store/storage/location.h"
#include "trainwarden/status.h"

namespace trainwarden::retention {

struct KeepRules {
  std::optional<std::int64_t> older_than_ns;       // runs that ended longer ago are removed
  std::optional<std::uint64_t> max_bytes;          // of all runs together: the oldest are removed until it holds
  std::optional<std::uint64_t> max_runs;           // the same of how many there are
  std::uint64_t keep_last = 0;                     // so many of the newest are never removed
  std::optional<std::int64_t> thin_older_than_ns;  // runs that ended longer ago are thinned out
  std::uint64_t every = 10;                        // then every so manieth step stays whole
  std::vector<std::string> keep;                   // names of runs that are left alone, "*" for any text

  bool says_anything() const { return older_than_ns || max_bytes || max_runs || thin_older_than_ns; }
};

// Names of runs that somebody needs, and what for. They may be thinned out.
using NeededRuns = std::map<std::string, std::string>;

struct PlannedRun {
  enum class Change {
    kNone,
    kRemove,
    kThin,
    kFinish,  // a removal that was interrupted
  };
  StoredRun run;
  Change change = Change::kNone;
  std::uint64_t freed_bytes = 0;  // of kThin: at most
  std::string reason;       // of a change; without one why a rule that asked for one is not followed, empty: none asked
  ThinningPlan thinning{};  // of kThin
};
std::string_view name(PlannedRun::Change change);  // "none", "remove", "thin", "finish"

struct GcPlan {
  std::vector<PlannedRun> runs;  // the oldest first
  std::uint64_t bytes = 0;       // of all runs now
  std::uint64_t freed_bytes = 0;
  std::uint64_t bytes_over = 0;  // that max_bytes would still be exceeded by, since nothing more may be removed
  bool changes_anything() const;
};

// Looks only. kNotFound when there is no such folder.
Result<GcPlan> plan_gc(const storage::Location& runs, const KeepRules& rules, const NeededRuns& needed,
                       const Clock& clock);

}  // namespace trainwarden::retention
