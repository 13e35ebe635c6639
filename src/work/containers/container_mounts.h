// What of a job a container sees of this machine.
#pragma once

#include <vector>

#include "trainwarden/status.h"
#include "work/containers/container_engine.h"
#include "work/jobs/job_record.h"
#include "work/jobs/job_spec.h"

namespace trainwarden::containers {

// Its sources, its run, its own folders and its checkpoints, and, not to be written, its channels: each under the path
// that it has outside, so that every variable holds inside. Model, data and checkpoints are in /opt/ml too, where
// programs written for SageMaker look. Folders that are not there yet are made. kInvalidArgument when a path has a
// colon or a comma, which no engine takes.
Result<std::vector<Mount>> mounts_of(const jobs::JobRecord& job, const jobs::JobSpec& spec);

}  // namespace trainwarden::containers
