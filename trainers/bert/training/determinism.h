// Runs that repeat: seeds, algorithms and threads.
#pragma once

#include <cstdint>

namespace bert {

// Seeds the generators of the CPU and of all CUDA devices.
void seed_all(std::uint64_t seed);

// Only algorithms that give the same bits on each run; an operator without one throws. Also sets `threads` of LibTorch,
// since sums depend on their number; 0 leaves it. Call it before anything else uses LibTorch: cuBLAS reads its setting
// (CUBLAS_WORKSPACE_CONFIG, which this sets where it is not) once.
void be_deterministic(int threads);

// Seeds them for one step on one rank. What dropout draws follows from these three alone: each rank draws something
// else, and a training that goes on draws what it would have drawn, whatever the ranks were before.
void seed_step(std::uint64_t seed, std::int64_t step, int rank);

}  // namespace bert
