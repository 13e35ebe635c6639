// What `trainwarden check --dry-run` says: what each rule would look at, and what of it is missing. Judges nothing.
#pragma once

#include <vector>

#include "judge/rules/engine.h"
#include "trainwarden/trial.h"

namespace trainwarden::cli {

// Prints to standard output. `trial`: the run that would be judged; null when none was named, and then only what the
// rules need is said. Returns the exit code; a failure to read the run's names is reported.
int print_dry_run(const Trial* trial, const std::vector<rules::EngineRule>& rules, bool json);

}  // namespace trainwarden::cli
