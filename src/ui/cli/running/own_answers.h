// What this very program answers when it is asked as a command, for servers that pass it on.
#pragma once

#include <string>
#include <vector>

#include "core/process/program.h"
#include "data/format/json.h"
#include "trainwarden/status.h"

namespace trainwarden::cli {

// What `trainwarden WORDS --json` prints, in our folder, and our environment with these changes, when it reads `input`.
// From any thread. What it warns of is logged.
// kNotFound, kAlreadyExists, kFailedPrecondition or kInvalidArgument with what it says when it says no; kInternal when
// it cannot be started, or answers anything else. `words` may hold "--", behind which there are no options.
Result<format::Json> ask_own_program(const std::vector<std::string>& words,
                                     const process::EnvironmentChanges& environment, const std::string& input = "");

}  // namespace trainwarden::cli
