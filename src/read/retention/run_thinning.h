// Old steps of a run that has ended: which keep their whole tensors, and which their statistics only.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "read/retention/cited_tensors.h"
#include "read/retention/segment_survey.h"
#include "read/retention/segment_thinner.h"
#include "store/storage/folder_edits.h"
#include "store/storage/location.h"
#include "trainwarden/status.h"

namespace trainwarden::retention {

// What of a run would be thinned out.
struct ThinningPlan {
  std::uint64_t every = 1;
  std::set<std::int64_t> thinned_steps;  // of those that have something whole, or had
  std::uint64_t whole_steps = 0;         // of which stay
  std::uint64_t steps = 0;               // of one worker, that change
  std::uint64_t tensors = 0;
  std::uint64_t bytes = 0;            // of these tensors; their statistics take some of it
  std::vector<std::string> left_out;  // segments that are damaged and stay as they are, with why
};

// Of the steps of all workers that have, or had, tensors whole, every n-th stays, counted from the first, and the last:
// whoever plans again with the same `every` finds nothing more to do. What a verdict cites stays.
Result<ThinningPlan> plan_thinning(const storage::Storage& run, const journal::RunInfo& info, std::uint64_t every);

// Does it, segment by segment, while all locks of the run are held: kFailedPrecondition, with nothing changed, when
// somebody writes it by now. A damaged segment stays as it is. What was done when an error comes stays done, and the
// rest is as it was.
Result<ThinnedSegment> thin_run(storage::Storage& run, storage::FolderEdits& changes, const journal::RunInfo& info,
                                const ThinningPlan& plan, const Clock& clock);

}  // namespace trainwarden::retention
