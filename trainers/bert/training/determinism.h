// Runs that repeat: seeds, algorithms, threads, and the state of random numbers for checkpoints.
#pragma once

#include <cstdint>

#include "training/named_tensors.h"

namespace bert {

// Seeds the generators of the CPU and of all CUDA devices.
void seed_all(std::uint64_t seed);

// Only algorithms that give the same bits on each run; an operator without one throws. Also sets `threads` of LibTorch,
// since sums depend on their number; 0 leaves it. Call it before anything else uses LibTorch: cuBLAS reads its setting
// (CUBLAS_WORKSPACE_CONFIG, which this sets where it is not) once.
void be_deterministic(int threads);

// "cpu" and, for each CUDA device, "cuda.N": uint8.
NamedTensors random_state();
// Throws as copy_by_name(). The state of devices that are not there is left out; a device that has no state keeps its
// own.
void load_random_state(const NamedTensors& state);

}  // namespace bert
