// Description: everything about a run and its rules that events, `describe` and Python tell, from one place.
#pragma once

#include <filesystem>
#include <string>

#include "format/json.h"
#include "trainwarden/status.h"

namespace trainwarden::events {

// As SageMaker's describe_training_job() where that makes sense off its cloud, with fields of ours beside it
// (docs/reference/describe.md). Times are RFC 3339 texts in UTC. The ledger's table counts, and what the run's files
// tell beyond it. kNotFound when there is no run.
Result<format::OrderedJson> describe_run(const std::filesystem::path& run);

}  // namespace trainwarden::events
