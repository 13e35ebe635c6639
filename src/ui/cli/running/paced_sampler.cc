#include "ui/cli/running/paced_sampler.h"

#include <chrono>

#include <fmt/format.h>

namespace trainwarden::cli {
namespace {

using std::chrono::milliseconds;

milliseconds interval_of(const foreign::SmdebugProfilerConfig& config, milliseconds by_default) {
  return config.interval_ms ? milliseconds(*config.interval_ms) : by_default;
}

}  // namespace

void PacedSampler::start() {
  sampler_.emplace(plan_);
}

std::string PacedSampler::follow(const foreign::SmdebugProfilerConfig& config) {
  if (config.disabled) {
    if (sampler_) sampler_->set_intervals(std::nullopt, std::nullopt);
    return "the machine is not sampled any more";
  }
  if (!typed_.host) plan_.host_interval = interval_of(config, sampling::kDefaultHostInterval);
  if (!typed_.gpu) plan_.gpu_interval = interval_of(config, sampling::kDefaultGpuInterval);
  if (sampler_) {
    sampler_->set_intervals(plan_.host_interval, plan_.gpu_interval);
  } else {
    start();
  }
  return fmt::format("the machine is sampled every {} ms, its GPUs every {} ms", plan_.host_interval.count(),
                     plan_.gpu_interval.count());
}

std::optional<sampling::SamplerResult> PacedSampler::finish(bool completed) {
  if (!sampler_) return std::nullopt;
  return sampler_->finish(completed);
}

}  // namespace trainwarden::cli
