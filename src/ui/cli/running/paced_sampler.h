// PacedSampler: the sampler beside a program, as often as its profilerconfig.json says by now.
#pragma once

#include <optional>
#include <string>

#include "data/foreign/smdebug_profiler_config.h"
#include "measure/sampling/sampler.h"

namespace trainwarden::cli {

// What was typed goes before the file, and stays.
struct TypedIntervals {
  bool host = false;
  bool gpu = false;
};

// One thread at a time.
class PacedSampler {
 public:
  // Reads nothing yet.
  PacedSampler(sampling::SamplerPlan plan, TypedIntervals typed) : plan_(std::move(plan)), typed_(typed) {}

  void start();
  // Starts it where it did not, lets it rest, or reads more or less often. Returns what it does now, for people.
  std::string follow(const foreign::SmdebugProfilerConfig& config);
  // None when it was never started.
  std::optional<sampling::SamplerResult> finish(bool completed);

 private:
  sampling::SamplerPlan plan_;  // with the intervals that hold now
  const TypedIntervals typed_;
  std::optional<sampling::Sampler> sampler_;
};

}  // namespace trainwarden::cli
