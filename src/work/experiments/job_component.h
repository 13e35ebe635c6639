// The component that a job is: made when it is submitted, completed while it runs and when it has ended.
#pragma once

#include <filesystem>
#include <string>

#include "trainwarden/status.h"
#include "work/experiments/content_hash.h"
#include "work/experiments/entities.h"
#include "work/jobs/job_record.h"
#include "work/jobs/job_spec.h"

namespace trainwarden::experiments {

// "bert-7-aws-training-job", as SageMaker calls it.
std::string component_of_job(const std::string& job);

// What is known of it before it runs: its hyper-parameters, the facts of its resources (SageMaker.InstanceCount, ...),
// its channels by their addresses. Hyper-parameters beyond what a component may have are left out, the last by name.
// `folder` is the job's.
ComponentRecord record_of_job(const jobs::JobSpec& spec, const jobs::JobOrder& order,
                              const std::filesystem::path& folder);

// What went into it, with hashes: its code (with what git knows of it) and its channels; into `environment` the list of
// the packages of its Python, empty when there is none. Takes as long as `budget` allows; what was not hashed says so.
// `spec_folder`: where relative paths of the spec begin.
ComponentRecord inputs_of_job(const jobs::JobSpec& spec, const jobs::JobOrder& order,
                              const std::filesystem::path& spec_folder, const HashBudget& budget,
                              std::string& environment);

// How it ended, and what came of it: its run, its checkpoints, its model where it was packed.
Result<ComponentRecord> end_of_job(const jobs::JobRecord& job, const HashBudget& budget);

}  // namespace trainwarden::experiments
