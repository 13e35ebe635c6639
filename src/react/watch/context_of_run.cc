#include "react/watch/context_of_run.h"

#include <utility>

#include "react/watch/common_step.h"
#include "read/trial/trial_access.h"
#include "store/journal/run_folder.h"

namespace trainwarden::watch {

actions::RunContext context_of_run(const Trial& trial,
                                   std::function<Result<actions::RunAnswer>(const format::RequestId&)> answer_to) {
  const storage::Location& location = TrialAccess::location(trial);
  actions::RunContext context{.name = location.name(),
                              .path = location.path(),
                              .storage = &location.storage(),
                              .clock = &system_clock(),
                              .answer_to = std::move(answer_to)};
  if (!TrialAccess::check_writable(trial, "a request").ok()) return context;  // nothing is asked of such runs
  context.run_id = TrialAccess::identity(trial);
  context.still_there = [storage = context.storage, run = TrialAccess::run_info(trial)] {
    return journal::check_same_run(*storage, run);
  };
  // A trial of its own: the one above belongs to another thread.
  context.common_step = [location]() -> Result<std::int64_t> {
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto own, TrialAccess::open(location));
    return first_common_step(pace_of(*own), system_clock().unix_ns());
  };
  return context;
}

}  // namespace trainwarden::watch
