// Seeds and deterministic algorithms.
#include "training/determinism.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/core/Generator.h>
#include <torch/cuda.h>

#include <cstdlib>
#include <mutex>
#include <vector>

namespace bert {
namespace {

std::vector<at::Generator> generators() {
  std::vector<at::Generator> all{at::detail::getDefaultCPUGenerator()};
  if (!at::globalContext().hasCUDA()) return all;
  const auto devices = static_cast<c10::DeviceIndex>(torch::cuda::device_count());
  for (c10::DeviceIndex i = 0; i < devices; ++i) {
    all.push_back(at::globalContext().defaultGenerator({c10::kCUDA, i}));
  }
  return all;
}

// SplitMix64 (Steele et al. 2014, https://doi.org/10.1145/2714064.2660195).
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

}  // namespace

void seed_all(std::uint64_t seed) {
  for (at::Generator& generator : generators()) {
    const std::lock_guard lock(generator.mutex());
    generator.set_current_seed(seed);
  }
}

void seed_step(std::uint64_t seed, std::int64_t step, int rank) {
  seed_all(mixed(mixed(mixed(seed) + static_cast<std::uint64_t>(step)) + static_cast<std::uint64_t>(rank)));
}

void be_deterministic(int threads) {
  ::setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);
  at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/false);
  at::globalContext().setDeterministicCuDNN(true);
  at::globalContext().setBenchmarkCuDNN(false);
  if (threads > 0) at::set_num_threads(threads);
}

}  // namespace bert
