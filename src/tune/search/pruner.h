// TrialPruner: may a trial end early?
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tune/search/history.h"

namespace trainwarden::tune {

struct PruneAnswer {
  bool prune = false;
  std::string why;  // one sentence, for people; empty where it goes on
};

// Depends on the history alone. One thread at a time.
class TrialPruner {
 public:
  virtual ~TrialPruner() = default;
  virtual std::string_view name() const = 0;  // "median"
  // Asked after each report of a running trial, by its index in history.trials.
  virtual PruneAnswer judge(const History& history, std::size_t trial) = 0;
};

}  // namespace trainwarden::tune
