#include "work/slurm/slurm_standing.h"

#include <gtest/gtest.h>

namespace trainwarden::slurm {
namespace {

using P = jobs::JobPhase;

struct Case {
  std::string words;  // with commas
  KnownOfJob known;
  std::optional<P> phase;
};

KnownOfJob requeued() {
  KnownOfJob known;
  known.requeues = true;
  return known;
}

KnownOfJob with_agent() {
  KnownOfJob known;
  known.agent_lives = true;
  return known;
}

KnownOfJob asked_by(const std::string& cause) {
  KnownOfJob known;
  known.stop_cause = cause;
  return known;
}

KnownOfJob exited(int code, const std::string& stop_cause = "") {
  KnownOfJob known = asked_by(stop_cause);
  known.exit = jobs::JobExit{};
  known.exit->code = code;
  return known;
}

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> all;
  std::string word;
  for (const char c : text + ",") {
    if (c != ',') {
      word += c;
    } else if (!word.empty()) {
      all.push_back(std::exchange(word, ""));
    }
  }
  return all;
}

TEST(SlurmStanding, IsATable) {
  const Case cases[] = {
      {"PENDING", {}, P::kPending},
      {"CONFIGURING", {}, P::kStarting},
      {"RUNNING,CONFIGURING", {}, P::kStarting},
      {"RUNNING", {}, P::kStarting},
      {"RUNNING", with_agent(), P::kTraining},
      {"COMPLETING", {}, P::kUploading},
      {"COMPLETED,COMPLETING", {}, P::kUploading},
      {"RUNNING,STAGE_OUT", {}, P::kUploading},
      {"SUSPENDED", requeued(), std::nullopt},
      {"STOPPED", requeued(), std::nullopt},
      {"PREEMPTED", requeued(), P::kInterrupted},
      {"PENDING,REQUEUED", requeued(), P::kInterrupted},
      {"REQUEUE_HOLD", requeued(), P::kInterrupted},
      {"SPECIAL_EXIT", requeued(), P::kInterrupted},
      {"PREEMPTED", {}, P::kStopped},
      {"SUSPENDED", {}, std::nullopt},
      {"COMPLETED", exited(0), P::kCompleted},
      {"COMPLETED", exited(0, "user"), P::kStopped},
      {"COMPLETED", exited(3), P::kFailed},
      {"COMPLETED", {}, P::kFailed},
      {"FAILED", exited(42), P::kFailed},
      {"FAILED", exited(42, "user"), P::kStopped},
      {"FAILED", exited(42, "max_run"), P::kMaxRuntimeExceeded},
      {"FAILED", {}, P::kFailed},
      {"FAILED", asked_by("user"), P::kStopped},
      {"LAUNCH_FAILED", {}, P::kFailed},
      {"CANCELLED", {}, P::kStopped},
      {"CANCELLED", exited(143), P::kStopped},
      {"CANCELLED", exited(0), P::kCompleted},
      {"CANCELLED", asked_by("max_run"), P::kMaxRuntimeExceeded},
      {"TIMEOUT", {}, P::kMaxRuntimeExceeded},
      {"TIMEOUT", exited(143), P::kMaxRuntimeExceeded},
      {"TIMEOUT", exited(0), P::kCompleted},
      {"DEADLINE", {}, P::kMaxRuntimeExceeded},
      {"NODE_FAIL", requeued(), P::kInterrupted},
      {"NODE_FAIL", {}, P::kFailed},
      {"BOOT_FAIL", requeued(), P::kInterrupted},
      {"OUT_OF_MEMORY", {}, P::kFailed},
      {"HIBERNATING", {}, std::nullopt},
      {"", {}, std::nullopt},
  };
  for (const Case& one : cases) {
    const Opinion opinion = opinion_of(standing_of(words(one.words)), "", one.known);
    EXPECT_EQ(opinion.phase, one.phase) << one.words << ": " << opinion.message;
  }
}

TEST(SlurmStanding, HasEndedOnlyWhenNothingOfItWillRun) {
  for (const char* word :
       {"PENDING", "CONFIGURING", "RUNNING", "COMPLETING", "SUSPENDED", "PREEMPTED", "HIBERNATING"}) {
    EXPECT_FALSE(has_ended(standing_of({word}))) << word;
  }
  for (const char* word : {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY"}) {
    EXPECT_TRUE(has_ended(standing_of({word}))) << word;
  }
}

TEST(SlurmStanding, GivesSlurmsReasonInItsMessage) {
  EXPECT_EQ(opinion_of(Standing::kQueued, "Resources", {}).message, "it waits in Slurm's queue (Resources)");
  EXPECT_EQ(opinion_of(Standing::kQueued, "None", {}).message, "it waits in Slurm's queue");
  EXPECT_EQ(opinion_of(Standing::kQueued, "\033[2J", {}).message, "it waits in Slurm's queue (\\x1B[2J)");
}

}  // namespace
}  // namespace trainwarden::slurm
