// All locks of a run, held while it is changed, so that no training goes on with it meanwhile.
#pragma once

#include <memory>
#include <vector>

#include "core/base/clock.h"
#include "store/storage/storage.h"
#include "trainwarden/status.h"

namespace trainwarden::retention {

using RunLocks = std::vector<std::unique_ptr<storage::Lock>>;

// Those of all journals there are. kFailedPrecondition when somebody writes the run, for all that can be seen from
// here.
Result<RunLocks> lock_run(storage::Storage& run, const Clock& clock);

}  // namespace trainwarden::retention
