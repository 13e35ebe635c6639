// A training program that is launched, with what the command line has beside it: lines on the terminal, a page, and
// TensorBoard.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/foreign/smdebug_profiler_config.h"
#include "measure/sampling/sampler.h"
#include "trainwarden/status.h"
#include "trainwarden/transfer.h"
#include "ui/cli/options/capture_choice.h"
#include "ui/cli/running/paced_sampler.h"
#include "ui/cli/running/run_mirror.h"
#include "ui/cli/running/watch_view.h"
#include "work/launch/launcher.h"
#include "work/output/output_metrics.h"

namespace trainwarden::cli {

// A profilerconfig.json that is followed while the program runs, what was in it before, and what goes before it.
struct FollowedProfilerConfig {
  std::filesystem::path file;
  foreign::SmdebugProfilerConfig known;
  TypedIntervals typed;
};

struct ProgramPlan : launch::LaunchPlan {
  std::optional<int> page_port;  // of the page beside it, 0: one that is free; nothing: no page
  Board board;                   // where the run is shown while it trains
  std::string mirror;            // "s3://...": where the run is kept too; empty: nowhere
  bool mirror_takes_requests = false;
  Chatter chatter = Chatter::kVerdicts;
  std::optional<output::OutputPlan> metrics;     // what is read of the program's output
  std::optional<sampling::SamplerPlan> sampler;  // of this machine, while the program runs
  std::optional<FollowedProfilerConfig> profiler_config;
  std::filesystem::path job;          // the folder of the job that this is part of; empty: of none
  std::vector<std::string> rule_ids;  // of all that judge, beside the program and inside
};

struct ProgramResult : launch::LaunchResult {
  std::optional<Result<ExportReport>> board;       // when it was to be shown to TensorBoard
  std::optional<output::OutputResult> metrics;     // when its output was to be read
  std::optional<sampling::SamplerResult> sampled;  // when the machine was to be sampled
  std::unique_ptr<RunMirror> mirror;               // when the run was to be kept elsewhere too; it has not ended

  // 3 when a rule fired and the program succeeded or was asked to stop, else the program's own.
  int combined_exit_code() const;
};

// Errors as launch::launch() and output::OutputMetrics::start().
Result<ProgramResult> run_watched(const ProgramPlan& plan, std::vector<rules::EngineRule> rules);

}  // namespace trainwarden::cli
