// SampleChoice: the options that say how often the machine is sampled.
#pragma once

#include <chrono>
#include <string>

#include "measure/sampling/sampler.h"
#include "trainwarden/status.h"
#include "ui/cli/commands/command.h"

namespace trainwarden::cli {

struct SampleChoice {
  std::string host;  // times, as they were typed; empty: the default
  std::string gpu;
  bool off = false;

  // Whether, and how often. kInvalidArgument: a time that is none, or too short or too long.
  Result<std::optional<sampling::SamplerPlan>> plan(const storage::Location& run) const;
};

void add_sample_intervals(CLI::App& command, SampleChoice& choice);

}  // namespace trainwarden::cli
