#include "work/slurm/slurm_standing.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/base/text.h"

namespace trainwarden::slurm {
namespace {

using jobs::JobPhase;

struct Word {
  std::string_view word;
  Standing standing;
};

// A job that is being requeued or ended has its base state beside the flag, so what decides comes first.
constexpr std::array<Word, 27> kWords = {{{"REQUEUE_FED", Standing::kSetAside},
                                          {"REQUEUE_HOLD", Standing::kSetAside},
                                          {"REQUEUED", Standing::kSetAside},
                                          {"SPECIAL_EXIT", Standing::kSetAside},
                                          {"COMPLETING", Standing::kEnding},
                                          {"STAGE_OUT", Standing::kEnding},
                                          {"CONFIGURING", Standing::kStarting},
                                          {"POWER_UP_NODE", Standing::kStarting},
                                          {"STOPPED", Standing::kSuspended},
                                          {"SUSPENDED", Standing::kSuspended},
                                          {"PREEMPTED", Standing::kSetAside},
                                          {"NODE_FAIL", Standing::kNodeFailed},
                                          {"BOOT_FAIL", Standing::kNodeFailed},
                                          {"LAUNCH_FAILED", Standing::kFailed},
                                          {"OUT_OF_MEMORY", Standing::kOutOfMemory},
                                          {"TIMEOUT", Standing::kOutOfTime},
                                          {"DEADLINE", Standing::kOutOfTime},
                                          {"CANCELLED", Standing::kCancelled},
                                          {"REVOKED", Standing::kCancelled},
                                          {"FAILED", Standing::kFailed},
                                          {"COMPLETED", Standing::kEnded},
                                          {"SIGNALING", Standing::kRunning},
                                          {"RESIZING", Standing::kRunning},
                                          {"RUNNING", Standing::kRunning},
                                          {"RESV_DEL_HOLD", Standing::kQueued},
                                          {"EXPEDITING", Standing::kQueued},
                                          {"PENDING", Standing::kQueued}}};

std::string ended_as(std::string_view what, std::string_view reason) {
  const bool says_more = !reason.empty() && reason != "None";
  return says_more ? fmt::format("{} ({})", what, printable(reason)) : std::string(what);
}

Opinion stopped(const KnownOfJob& known, std::string message) {
  if (known.stop_cause == "max_run") return {JobPhase::kMaxRuntimeExceeded, std::move(message)};
  if (known.stop_cause == "max_wait") return {JobPhase::kMaxWaitTimeExceeded, std::move(message)};
  return {JobPhase::kStopped, std::move(message)};
}

// Slurm has done with it, and its agent has not written how the program ended.
Opinion without_exit(Standing standing, std::string_view reason, const KnownOfJob& known) {
  switch (standing) {
    case Standing::kOutOfTime:
      return {JobPhase::kMaxRuntimeExceeded, ended_as("Slurm has ended it: its time is up", reason)};
    case Standing::kCancelled: return stopped(known, ended_as("cancelled in Slurm", reason));
    case Standing::kOutOfMemory:
      return {JobPhase::kFailed, "AlgorithmError: it took more memory than it had asked for"};
    case Standing::kNodeFailed: return {JobPhase::kFailed, "InternalServerError: its node has failed"};
    default: break;
  }
  if (!known.stop_cause.empty()) return stopped(known, ended_as("Slurm says that it has ended", reason));
  return {JobPhase::kFailed,
          ended_as("InternalServerError: Slurm says that it has ended, and its agent did not say how", reason)};
}

// The agent has written how the program ended, and perhaps no more.
Opinion by_exit(const jobs::JobExit& exit, Standing standing, const KnownOfJob& known) {
  if (!known.stop_cause.empty() || exit.stopped_by_rule) return stopped(known, "the program has ended");
  if (exit.code == 0) return {JobPhase::kCompleted, "the program has ended with exit code 0"};
  if (standing == Standing::kOutOfTime) return {JobPhase::kMaxRuntimeExceeded, "Slurm has ended it: its time is up"};
  if (standing == Standing::kCancelled) return {JobPhase::kStopped, "cancelled in Slurm"};
  return {JobPhase::kFailed, "AlgorithmError: the program has failed"};
}

}  // namespace

Standing standing_of(const std::vector<std::string>& words) {
  for (const Word& known : kWords) {
    if (std::find(words.begin(), words.end(), known.word) != words.end()) return known.standing;
  }
  return Standing::kUnknown;
}

bool has_ended(Standing standing) {
  return standing >= Standing::kEnded;
}

Opinion opinion_of(Standing standing, std::string_view reason, const KnownOfJob& known) {
  const std::string why = ended_as("", reason);
  switch (standing) {
    case Standing::kUnknown: return {};
    case Standing::kQueued: return {JobPhase::kPending, "it waits in Slurm's queue" + why};
    case Standing::kStarting: return {JobPhase::kStarting, "Slurm prepares its nodes" + why};
    case Standing::kRunning:
      return known.agent_lives ? Opinion{JobPhase::kTraining, "the program runs"}
                               : Opinion{JobPhase::kStarting, "Slurm has started it" + why};
    case Standing::kEnding: return {JobPhase::kUploading, "Slurm waits for the end of its processes"};
    case Standing::kSuspended: return {std::nullopt, "Slurm has suspended it" + why};
    case Standing::kSetAside:
      if (known.requeues) return {JobPhase::kInterrupted, ended_as("Slurm has set it aside", reason)};
      return stopped(known, ended_as("Slurm has set it aside for good", reason));
    default: break;
  }
  if (standing == Standing::kNodeFailed && known.requeues) {
    return {JobPhase::kInterrupted, ended_as("its node has failed", reason)};
  }
  return known.exit ? by_exit(*known.exit, standing, known) : without_exit(standing, reason, known);
}

}  // namespace trainwarden::slurm
