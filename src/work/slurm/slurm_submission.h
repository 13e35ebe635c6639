// Submitting to Slurm so that a job is there once, whatever dies meanwhile.
//
// In the job's folder, each written once; a job that is resumed later on is submitted anew, under the next number:
//
//   slurm/1/batch-X.sh     the script
//   slurm/1/intent.json   that it is to be submitted, and the comment that it has in Slurm
//   slurm/1/job.json      Slurm's number of it
//
// The intent comes first. Whoever finds one without a number looks in Slurm for a job of this user with its comment.
// Only who wrote the intent submits: a folder of jobs may be anybody's, and a look at it must run nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "store/storage/location.h"
#include "trainwarden/status.h"
#include "work/slurm/slurm_batch.h"
#include "work/slurm/slurm_commands.h"
#include "work/slurm/slurm_listing.h"

namespace trainwarden::slurm {

struct SubmissionIntent {
  std::string comment;
  std::vector<std::string> arguments;  // of sbatch
  friend bool operator==(const SubmissionIntent&, const SubmissionIntent&) = default;
};

struct Submitted {
  std::int64_t id = 0;
  std::string cluster;   // empty: the only one
  bool adopted = false;  // it was in Slurm already
};

struct Submission {
  int number = 0;
  SubmissionIntent intent;
  std::optional<Submitted> submitted;  // nothing: nobody has written its number yet
};

// The newest of a job; nothing when the job was never meant for Slurm. kDataLoss when it is damaged.
Result<std::optional<Submission>> newest_submission(const storage::Location& job);

// Writes script and intent of the next one. `request.comment` is made here. kAlreadyExists when another process has
// done so meanwhile.
Status write_intent(const storage::Location& job, BatchRequest request);
// The same with the options of the one before, for a job that is to go on. kNotFound when there is none.
Status write_intent_again(const storage::Location& job);
// Writes that this is its number in Slurm. Fine when that has been written, kAlreadyExists when another number has.
Status write_submitted(const storage::Location& job, int number, const Submitted& submitted);

// Does what the newest intent asks for, when that is not done yet. Errors: kAlreadyExists when another process is at
// it, kUnavailable when nobody knows whether it is done now: call it again; kInvalidArgument when Slurm refuses it,
// kNotFound when there is no intent.
Result<Submitted> submit(const storage::Location& job, const SlurmCommands& commands, const Clock& clock);
// Another process is about to submit it, or has died less than a minute ago.
bool is_being_submitted(const storage::Location& job, const Clock& clock);

// What `sbatch --parsable` prints, "17" or "17;cluster". kDataLoss when it is nothing like that.
Result<Submitted> parse_sbatch(std::string_view text);

// The job of this user that has the comment; nothing when none has.
std::optional<SlurmJob> find_by_comment(const std::vector<SlurmJob>& jobs, std::string_view comment, std::int64_t user);

}  // namespace trainwarden::slurm
