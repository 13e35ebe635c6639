// What NVIDIA's management library (NVML) says of the GPUs, as probes.
#pragma once

#include <memory>
#include <vector>

#include "measure/machine/probe.h"

namespace trainwarden::machine {

// A probe that reads all GPUs of this machine; none when there is no driver, or no GPU. `library` is what the system's
// loader is asked for. Each call, this one too, may take long, and for ever where a driver hangs: call and read in a
// thread that nothing waits for.
std::vector<std::unique_ptr<Probe>> open_gpu_probes(const char* library = "libnvidia-ml.so.1");

}  // namespace trainwarden::machine
