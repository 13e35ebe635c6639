// describe: everything about a run and its rules, as one JSON document.
#pragma once

#include <filesystem>
#include <string>

#include "trainwarden/export.h"
#include "trainwarden/status.h"

namespace trainwarden {

// As SageMaker's describe_training_job() where that makes sense off its cloud, with fields of ours beside it
// (docs/reference/describe.md). Times are RFC 3339 texts in UTC. While a program records the run's events, its status
// counts. Writes nothing. May be called from any thread. kNotFound when there is no run, kDataLoss when what describes
// it cannot be read.
TRAINWARDEN_API Result<std::string> describe_json(const std::filesystem::path& run_dir);

}  // namespace trainwarden
