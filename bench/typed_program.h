// The program `trainwarden`, run as a user types it.
#pragma once

#include <string>
#include <vector>

#include "core/process/exit_record.h"
#include "core/process/program.h"
#include "trainwarden/status.h"

namespace trainwarden::bench {

// From its start to its end; what it prints goes nowhere. An error when it fails, or takes more than two minutes.
Result<process::ExitRecord> run_typed(const std::vector<std::string>& words,
                                      const process::EnvironmentChanges& changes = {});

inline double ms_of(const process::ExitRecord& record) {
  return std::chrono::duration<double, std::milli>(record.wall).count();
}

}  // namespace trainwarden::bench
