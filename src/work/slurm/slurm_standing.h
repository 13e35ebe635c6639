// Where a job stands, in Slurm's words, and what that means for ours.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "work/jobs/job_record.h"
#include "work/jobs/job_state.h"
#include "work/slurm/slurm_listing.h"

namespace trainwarden::slurm {

// Slurm's two dozen states, as far as they differ for us.
enum class Standing : std::uint8_t {
  kUnknown,      // a word that we do not know: nothing is concluded from it
  kQueued,       // PENDING
  kStarting,     // CONFIGURING
  kRunning,      // RUNNING
  kEnding,       // COMPLETING, STAGE_OUT: its processes have ended or are being ended
  kSuspended,    // SUSPENDED, STOPPED: its processes stand still and go on later, as if nothing had been
  kSetAside,     // PREEMPTED, REQUEUED and others: its processes end; it is to go on, if it may be requeued
  kEnded,        // COMPLETED: its script has returned 0
  kFailed,       // FAILED: its script has returned something else, or could not be started
  kCancelled,    // CANCELLED
  kOutOfTime,    // TIMEOUT, DEADLINE
  kNodeFailed,   // NODE_FAIL, BOOT_FAIL
  kOutOfMemory,  // OUT_OF_MEMORY
};

// Of all the words that Slurm gives for one job, the base state and flags, in any order.
Standing standing_of(const std::vector<std::string>& words);
// Nothing of it runs, and nothing will, unless it is requeued.
bool has_ended(Standing standing);

// What is known beside Slurm's word.
struct KnownOfJob {
  bool requeues = false;     // Slurm would start it again
  bool agent_lives = false;  // there is a sign of life of its agent
  jobs::JobPhase now = jobs::JobPhase::kPending;
  std::string stop_cause;             // of its Stopping: "user", "max_run"; empty: nobody has asked
  std::optional<jobs::JobExit> exit;  // what its agent has written
};

struct Opinion {
  std::optional<jobs::JobPhase> phase;  // where it should stand; nothing: leave it as it is
  std::string message;
};

// The table of docs/reference/slurm.md. The exit record says how the program ended, whatever Slurm says: a program that
// ends by itself when asked to is FAILED for Slurm, and a job whose time is up may have done all its work.
Opinion opinion_of(Standing standing, std::string_view reason, const KnownOfJob& known);

}  // namespace trainwarden::slurm
