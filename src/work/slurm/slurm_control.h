// What is done to a job that is in Slurm: it is asked to end, cancelled, put back into the queue.
#pragma once

#include "trainwarden/status.h"
#include "work/slurm/slurm_commands.h"
#include "work/slurm/slurm_listing.h"

namespace trainwarden::slurm {

// SIGTERM to the agent alone, which ends the program in its own time: Slurm's cancel would kill it after KillWait, 30 s
// as a rule and the same for all jobs of a cluster. A job that has not begun is cancelled: a signal to it is held back
// by scancel until it begins, and then kills its script. Fine when it has ended. Errors as SlurmCommands::run().
Status ask_to_end(const SlurmCommands& commands, const SlurmJob& job);
// Slurm ends it, whatever it does. Fine when it has ended.
Status cancel(const SlurmCommands& commands, const SlurmKey& key);

// Ends what runs and puts the job back into the queue, from which it comes after two minutes, as Slurm has it;
// start_soon() takes these away.
Status requeue(const SlurmCommands& commands, const SlurmKey& key);
Status start_soon(const SlurmCommands& commands, const SlurmKey& key);

}  // namespace trainwarden::slurm
