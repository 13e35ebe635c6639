// diagnose(): the ranked list of what is wrong with a training, from all that is known of it.
#pragma once

#include <string>
#include <vector>

#include "judge/diagnosis/finding.h"
#include "judge/diagnosis/history.h"

namespace trainwarden::diagnosis {

// Findings that weigh less are not told; and by one that is less sure nobody is alarmed.
inline constexpr double kTold = 0.25;
inline constexpr double kAlarming = 0.5;

struct Diagnosis {
  std::vector<CauseFinding> findings;      // the most probable first; consequences of another one are left out
  std::vector<CauseFinding> consequences;  // those
  std::string apart;                       // what would tell the first two findings apart; empty: nothing, or no need
  std::vector<std::string> missing;        // what could not be looked at, and what would bring it
  // Why it must not be said that nothing is wrong, also where no finding is sure: "the loss is not finite in 3 of 15
  // looks".
  std::string doubt;
  std::vector<std::string> alarms;  // rules that found more than a note, in a training that was not examined
  Symptoms symptoms;
  std::int64_t steps = 0;     // train steps that were trained, as far as is known
  std::int64_t examined = 0;  // of them looked at in full
  double spent_seconds = 0;   // what that cost the training

  // The one that is told first; null when nothing is wrong, or nothing was found.
  const CauseFinding* first() const {
    return findings.empty() || findings.front().confidence < kAlarming ? nullptr : &findings.front();
  }
};

Diagnosis diagnose(const TrainingHistory& history);

}  // namespace trainwarden::diagnosis
