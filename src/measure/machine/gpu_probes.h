// What NVIDIA's management library (NVML) says of the GPUs, as probes.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "measure/machine/probe.h"

namespace trainwarden::machine {

struct GpuPlan {
  std::string library = "libnvidia-ml.so.1";  // what the system's loader is asked for
  // What the GPU counts itself (GPM) is counted from one tick to the next; two nearer than this give nothing yet.
  std::chrono::milliseconds least_counting{200};
};

// A probe that reads all GPUs of this machine, by the library's numbers: "GPU-0" is the first whatever
// CUDA_VISIBLE_DEVICES says. None when there is no driver, or no GPU. Each call, this one and the probe's end too, may
// take long, and for ever where a driver hangs: open, read and end it in a thread that nothing waits for.
std::vector<std::unique_ptr<Probe>> open_gpu_probes(const GpuPlan& plan = {});

}  // namespace trainwarden::machine
