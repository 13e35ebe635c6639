// ProfileNow: what the machine and the training do at the end of what is known, for a line or a card. Cheap: reads the
// last steps and seconds alone.
#pragma once

#include <string>
#include <vector>

#include "trainwarden/trial.h"

namespace trainwarden::views {

struct UsageNow {
  std::string kind;   // "cpu"
  std::string label;  // "processors"
  std::string unit;
  std::string instance;
  double value = 0;
};

struct PhaseNow {
  std::string phase;
  double share = 0;  // of the last steps' time
};

struct ProfileNow {
  std::vector<UsageNow> usage;   // of whole machines and devices
  std::vector<PhaseNow> phases;  // of the first worker's last steps that were divided, the longest first
  bool empty() const { return usage.empty() && phases.empty(); }
};

// What cannot be read is not there.
ProfileNow profile_now(Trial& trial);

}  // namespace trainwarden::views
