// `trainwarden export --to smdebug-profiler`: what machines and steps did, for smdebug's readers of profiles.
#pragma once

#include <string>
#include <vector>

#include "ui/cli/commands/command.h"

namespace trainwarden::cli {

inline constexpr const char* kSmdebugProfiler = "smdebug-profiler";

struct ProfileCommand {
  RunChoice run;
  std::string out;
  std::vector<std::string> workers;
  bool force = false;
  bool json = false;
};

// Returns the exit code.
int export_profile(const ProfileCommand& command);

}  // namespace trainwarden::cli
