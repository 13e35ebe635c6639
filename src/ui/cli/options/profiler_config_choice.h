// ProfilerConfigChoice: the profilerconfig.json of SageMaker's that says how a training is profiled, and what that is
// here.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "data/foreign/smdebug_profiler_config.h"
#include "trainwarden/status.h"
#include "ui/cli/commands/command.h"
#include "ui/cli/options/sample_choice.h"

namespace trainwarden::cli {

struct ProfilerConfigChoice {
  std::string file;  // as it was typed; empty: where smdebug looks for one

  // The file, when there is one: what was typed, what SMPROFILER_CONFIG_PATH names, the place of SageMaker's
  // containers.
  std::optional<std::filesystem::path> find() const;
};

// kInvalidArgument with the file and what is wrong with it, kNotFound when it cannot be read.
Result<foreign::SmdebugProfilerConfig> read_profiler_config(const std::filesystem::path& file);

// The steps of which operators are recorded, and in which the stacks of Python are sampled, as one window "5:15"; none
// when neither is asked for by steps.
std::optional<std::string> profiled_steps(const foreign::SmdebugProfilerConfig& config);

// What it says goes where the user has typed nothing else: how often the machine is sampled into `sample`, variables of
// the hook into `environment`. Whether it is sampled at all may change while it runs: who samples asks the file.
// `steps_are_chosen`: another configuration says which steps are recorded.
void apply_profiler_config(const foreign::SmdebugProfilerConfig& config, bool steps_are_chosen, SampleChoice& sample,
                           std::map<std::string, std::string>& environment);

void add_profiler_config_option(CLI::App& command, ProfilerConfigChoice& choice);

}  // namespace trainwarden::cli
