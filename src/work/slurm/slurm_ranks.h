// Jobs of several processes: srun starts one for each task on each node of the allocation, and each finds what torchrun
// would tell it in its environment.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/process/exit_record.h"
#include "core/process/signal_relay.h"
#include "trainwarden/status.h"
#include "work/jobs/job_spec.h"
#include "work/ranks/rank_binding.h"
#include "work/ranks/rank_place.h"
#include "work/ranks/rank_process.h"
#include "work/slurm/slurm_commands.h"

namespace trainwarden::slurm {

// Whether this cluster's Slurm binds tasks to processors itself (`TaskPlugin` of its configuration has
// task/affinity). Where it does not, a task binds itself within what it may use. Errors as SlurmCommands::run().
Result<bool> binds_tasks(const SlurmCommands& commands);

// In place of the program of one process: this program, which starts srun (run_ranks()). Tasks are bound as the
// resources say, by Slurm when `slurm_binds`, else by themselves.
std::vector<std::string> ranks_command(const std::string& trainwarden, const jobs::Resources& resources,
                                       bool slurm_binds, const std::vector<std::string>& program);

std::map<std::string, std::string> own_environment();  // by name

// Which rank a task is, from what srun sets (`environment` by name). The address of rank 0 is MASTER_ADDR, else that of
// the node on which srun was started, the first one, which has rank 0. kFailedPrecondition when this process was not
// started by srun, kDataLoss when a number is none.
Result<ranks::RankPlace> place_of_task(const std::map<std::string, std::string>& environment);

// The GPUs that Slurm has given to this step of the job on this node (SLURM_STEP_GPUS, of a batch script
// SLURM_JOB_GPUS), by the numbers that the node itself has for them. None when Slurm says of none; kDataLoss when one
// is no number.
Result<std::vector<int>> gpus_of_step(const std::map<std::string, std::string>& environment);

// Starts srun with these arguments, with a MASTER_PORT that is free on this node now, and waits for its end. What asks
// this process to end is handed on so that tasks have time: srun would kill them within KillWait, so it gets SIGUSR2,
// which it hands on to each task as it is. SIGUSR1 goes the same way; SIGUSR2 is ours.
Result<process::ExitRecord> run_ranks(const std::vector<std::string>& srun_arguments, process::SignalRelay& signals);

// The number of the node on which this task is. Errors as place_of_task().
Result<std::int64_t> node_of_task();

// One task: binds itself, writes into the job to what it is bound, runs the program as this rank and waits for its end.
// SIGUSR2 is SIGTERM for it. A rank that fails without
// having been asked to end is the job's first failure, when no other one was.
Result<process::ExitRecord> run_task(const std::vector<std::string>& program, const ranks::RankBinding& binding,
                                     const ranks::RankSurroundings& surroundings);

}  // namespace trainwarden::slurm
