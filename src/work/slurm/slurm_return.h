// Putting a job back into Slurm's queue that was interrupted, and that Slurm does not put there by itself.
//
// A folder of jobs may be anybody's, so nothing that lies in it is run by who looks at it. What is put back is Slurm's
// own: the job of this user that Slurm says was submitted from this very folder, with the script that Slurm has kept.
#pragma once

#include <vector>

#include "core/base/clock.h"
#include "trainwarden/status.h"
#include "work/jobs/job_record.h"
#include "work/slurm/slurm_commands.h"
#include "work/slurm/slurm_listing.h"
#include "work/slurm/slurm_standing.h"
#include "work/slurm/slurm_submission.h"

namespace trainwarden::slurm {

// Whether a job in this phase, that has ended for Slurm and whose agent has not said how, has ended by nobody's wish.
// `listed`: as Slurm lists it; nullptr: it has forgotten it.
bool is_loss(Standing standing, const SlurmJob* listed, jobs::JobPhase now);
// Whether it goes on after a loss: it has retries left, or has been interrupted by something else and is not back yet.
bool may_go_on(const jobs::JobOrder& order, const std::vector<jobs::Transition>& all, const SlurmJob* listed);

// Whether Slurm says that this user has submitted this job from its folder. A copy of the folder lies elsewhere, and
// the comment alone can be read by everybody.
bool is_own(const jobs::JobRecord& job, const Submission& submission, const SlurmJob& found);

// Whether Slurm could not start it, as on a node that takes it for one that has ended, and waits until it is released.
bool is_held_after_launch(const SlurmJob& found);

// It may begin at once: Slurm's two minutes of waiting are for nodes that are still at it, which its agent finds out.
// Fine when somebody else is at it, or it is in the queue or runs. Errors: kFailedPrecondition when Slurm does not have
// it, or not as is_own() asks; those of SlurmCommands::run().
Status put_back(const jobs::JobRecord& job, const Submission& submission, const SlurmCommands& commands,
                const Clock& clock);

}  // namespace trainwarden::slurm
