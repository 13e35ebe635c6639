// Exit codes: what `trainwarden` returns to the shell. Documented in docs/reference/cli.md and in --help.
#pragma once

#include "trainwarden/status.h"

namespace trainwarden::cli {

// `run` hands on the program's own code where the program failed by itself.
inline constexpr int kExitFine = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;  // the command line or the configuration is wrong
inline constexpr int kExitRuleFired = 3;
inline constexpr int kExitDataLost = 4;      // data of the run are lost or damaged
inline constexpr int kExitTargetMissed = 5;  // a study has not met its target
inline constexpr int kExitDiffers = 6;       // two runs differ

int exit_code_of(const Status& status);

// Writes `trainwarden: error: MESSAGE` to standard error and returns the exit code.
int report_error(const Status& status);

}  // namespace trainwarden::cli
