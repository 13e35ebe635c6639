// `trainwarden export --to chrome-trace` and the other traces of operator calls.
#pragma once

#include <string>
#include <vector>

#include "read/transfer/operator_trace.h"
#include "ui/cli/commands/command.h"
#include "ui/cli/running/bucket_detour.h"

namespace trainwarden::cli {

struct TraceCommand {
  RunChoice run;
  transfer::TraceFormat format = transfer::TraceFormat::kChromeTrace;
  std::string steps;
  std::vector<std::string> workers;
  bool force = false;
  bool json = false;
};

// Returns the exit code.
int export_trace(const TraceCommand& command, const BucketDetour& out);

}  // namespace trainwarden::cli
