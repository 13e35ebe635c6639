// Jobs for Slurm, as commands submit, stop and resume them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trainwarden/status.h"
#include "work/jobs/job_record.h"
#include "work/jobs/job_spec.h"
#include "work/slurm/slurm_view.h"

namespace trainwarden::cli {

// What its order runs: the program, or what starts it on all nodes.
std::vector<std::string> program_for_slurm(const jobs::JobSpec& spec, const std::vector<std::string>& program);

// A job that was made just now. When Slurm refuses it, it has failed with Slurm's words, which are the error too.
// kUnavailable when nobody knows whether Slurm has it: looking at the job will tell.
Status submit_to_slurm(jobs::JobRecord& job, const jobs::JobSpec& spec, const std::filesystem::path& jobs);

// Hands a request to stop that is in the job's state on to Slurm; a second one, after the grace, cancels it there.
Status stop_in_slurm(const jobs::JobRecord& job, const jobs::Transition& stopping, slurm::SlurmView& slurm);

// The next attempt of a job that has ended. Errors as those of JobRecord::resume() and above.
Result<jobs::Transition> resume_in_slurm(jobs::JobRecord& job, const std::string& message);

}  // namespace trainwarden::cli
