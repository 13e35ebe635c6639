// What run.json says about this process: who it is, where it runs and how it was started.
#pragma once

#include "core/base/clock.h"
#include "store/journal/run_folder.h"
#include "trainwarden/hook.h"
#include "trainwarden/status.h"

namespace trainwarden::capture {

// With a new random id of 128 bits. kUnavailable when the system has no randomness.
Result<journal::RunInfo> describe_run(const HookOptions& options, const Clock& clock);

}  // namespace trainwarden::capture
