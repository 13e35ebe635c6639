// spawn: from a Program to a process. Only child.cc uses it.
#pragma once

#include <sys/types.h>

#include "core/process/program.h"
#include "trainwarden/status.h"

namespace trainwarden::process {

// `life`: the reading end of a pipe whose closing ends the program; -1: none. Errors as Child::start().
Result<pid_t> spawn(const Program& program, int life);

}  // namespace trainwarden::process
