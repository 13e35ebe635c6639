// `trainwarden export --to smdebug-profiler`: what machines and steps did, for smdebug's readers of profiles.
#pragma once

#include <string>
#include <vector>

#include "ui/cli/commands/command.h"
#include "ui/cli/running/bucket_detour.h"

namespace trainwarden::cli {

inline constexpr const char* kSmdebugProfiler = "smdebug-profiler";

struct ProfileCommand {
  RunChoice run;
  std::vector<std::string> workers;
  bool force = false;
  bool json = false;
};

// Returns the exit code.
int export_profile(const ProfileCommand& command, const BucketDetour& out);

}  // namespace trainwarden::cli
