// The action "stop" of a standing subscription: the job that the event is of is asked to stop.
#pragma once

#include "react/actions/action_kind.h"
#include "store/storage/location.h"

namespace trainwarden::job_events {

actions::ActionKind job_stop_kind(const storage::Location& jobs);

}  // namespace trainwarden::job_events
