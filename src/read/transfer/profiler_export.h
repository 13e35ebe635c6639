// Profiler export: what the machines and the steps of a run did, as a folder that smdebug's own readers of profiles
// read. docs/reference/export.md has what goes where.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "trainwarden/status.h"
#include "trainwarden/trial.h"

namespace trainwarden::transfer {

struct ProfilerExportOptions {
  std::filesystem::path out;
  std::vector<std::string> workers{};      // empty: all
  std::int64_t interval_ns = 500'000'000;  // samples are means of this long, as SageMaker's are
  bool force = false;                      // write although something is there; nothing is removed
};

struct ProfilerExportReport {
  std::uint64_t samples = 0;
  std::uint64_t steps = 0;
  std::uint64_t calls = 0;
  std::uint64_t steps_without_times = 0;  // which were left out
  std::uint64_t lost_calls = 0;           // that the run does not have
  std::uint64_t damaged_steps = 0;
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
};

// kNotFound when a worker is not there, or when the run has neither samples of a machine nor phases of steps; nothing
// was written then. kAlreadyExists when something is at `out`.
Result<ProfilerExportReport> export_profiler(Trial& trial, const ProfilerExportOptions& options);

}  // namespace trainwarden::transfer
