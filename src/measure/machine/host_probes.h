// What the kernel says of the machine, of our control group and of the training's processes, as probes.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "measure/machine/probe.h"

namespace trainwarden::machine {

struct HostPlan {
  std::filesystem::path root = "/";  // below it proc and sys
  std::string host;                  // instance of the host's metrics
  // Processes whose tree is the training: asked at ticks, may change, may be empty for now. Without it there are no
  // metrics of processes, and the control group is the one that this process is in.
  std::function<std::vector<pid_t>()> roots;
};

// All that this machine has; what it has not gives no probe, and what a probe cannot read no metric. Opens a few dozen
// files, which stay open.
std::vector<std::unique_ptr<Probe>> host_probes(const HostPlan& plan);

}  // namespace trainwarden::machine
