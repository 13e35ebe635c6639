// Where a job of Slurm stands, by its own files, by its agent's lease, and by what Slurm says.
#pragma once

#include "core/base/clock.h"
#include "trainwarden/status.h"
#include "work/jobs/job_record.h"
#include "work/slurm/slurm_submission.h"
#include "work/slurm/slurm_view.h"

namespace trainwarden::slurm {

// As JobRecord::settle(), of a job whose backend is Slurm:
//
//   - as long as its agent lives, its files are right, and Slurm is not asked;
//   - while Slurm does not answer, it stays as it is;
//   - what Slurm has put back into its queue is Interrupted;
//   - what was lost and has retries left is Interrupted, and put back (slurm_return.h);
//   - what has waited longer than it may is to stop, and is cancelled in Slurm when it is this user's;
//   - what has ended for Slurm ends as its exit record says, or, without one, as Slurm says (slurm_standing.h);
//   - what was to be submitted and is not in Slurm has failed, unless somebody is at it.
//
// The message of a job that waits says why, in Slurm's words; it is not written down. Nothing that lies in the folder
// is started.
Result<jobs::Transition> settle(jobs::JobRecord& job, SlurmView& slurm, const Clock& clock);

// It has passed this limit by waiting, and is to stop, unless it has moved on from `now` meanwhile.
Status stop_waiting(jobs::JobRecord& job, const jobs::Transition& now, std::string_view limit, const Clock& clock);

// The job in Slurm that this one is; nothing when it is not there, or is there no longer. Its comment is compared, so
// that no number in a damaged or foreign folder leads to another job of this user. kUnavailable when nobody knows.
Result<std::optional<SlurmJob>> find_in_slurm(const jobs::JobRecord& job, SlurmView& slurm);

}  // namespace trainwarden::slurm
