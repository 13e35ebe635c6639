// Seeds, deterministic algorithms and the states of generators.
#include "training/determinism.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/core/Generator.h>
#include <torch/cuda.h>

#include <cstdlib>
#include <mutex>
#include <stdexcept>

namespace bert {
namespace {

std::vector<std::pair<std::string, at::Generator>> generators() {
  std::vector<std::pair<std::string, at::Generator>> all{{"cpu", at::detail::getDefaultCPUGenerator()}};
  if (!at::globalContext().hasCUDA()) return all;
  const auto devices = static_cast<c10::DeviceIndex>(torch::cuda::device_count());
  for (c10::DeviceIndex i = 0; i < devices; ++i) {
    all.emplace_back("cuda." + std::to_string(i), at::globalContext().defaultGenerator({c10::kCUDA, i}));
  }
  return all;
}

}  // namespace

void seed_all(std::uint64_t seed) {
  for (auto& [name, generator] : generators()) {
    const std::lock_guard lock(generator.mutex());
    generator.set_current_seed(seed);
  }
}

void be_deterministic(int threads) {
  ::setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);
  at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/false);
  at::globalContext().setDeterministicCuDNN(true);
  at::globalContext().setBenchmarkCuDNN(false);
  if (threads > 0) at::set_num_threads(threads);
}

NamedTensors random_state() {
  NamedTensors state;
  for (auto& [name, generator] : generators()) {
    const std::lock_guard lock(generator.mutex());
    state.emplace_back(name, generator.get_state());
  }
  return state;
}

void load_random_state(const NamedTensors& stored) {
  NamedTensors from, to;
  std::vector<at::Generator> targets;
  for (auto& [name, generator] : generators()) {
    for (const auto& [stored_name, tensor] : stored) {
      if (stored_name != name) continue;
      const std::lock_guard lock(generator.mutex());
      from.emplace_back(name, tensor);
      to.emplace_back(name, generator.get_state().clone());
      targets.push_back(generator);
    }
  }
  if (to.empty() || to.front().first != "cpu") {
    throw std::runtime_error("The state of random numbers does not fit; missing: cpu. Take another checkpoint.");
  }
  copy_by_name(from, to, "The state of random numbers");
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const std::lock_guard lock(targets[i].mutex());
    targets[i].set_state(to[i].second);
  }
}

}  // namespace bert
