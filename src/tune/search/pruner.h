// TrialPruner: may a trial end early?
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tune/search/history.h"

namespace trainwarden::tune {

struct PruneAnswer {
  bool prune = false;
  std::string why;     // one sentence, for people; empty where it goes on
  bool pause = false;  // it is to stop with a checkpoint, and may go on later: next_promotion() says when
  // Of a trial that goes on: the rung that it has passed just now, which is to be kept as StudyTrial::passed_rung; 0:
  // none.
  std::int64_t rung = 0;
};

// A paused trial that is to go on.
struct Promotion {
  std::size_t trial = 0;  // index in history.trials
  std::int64_t rung = 0;  // that it has passed by this
  std::string why;        // one sentence, for people
};

// Depends on the history alone. One thread at a time.
class TrialPruner {
 public:
  virtual ~TrialPruner() = default;
  virtual std::string_view name() const = 0;  // "median"
  // Asked after each report of a running trial, by its index in history.trials.
  virtual PruneAnswer judge(const History& history, std::size_t trial) = 0;
  // Does it ever pause a trial? Then trials need checkpoints.
  virtual bool pauses() const { return false; }
  // Asked before a new trial is started. `is_last`: none runs, and no new one is to come. None: no paused one goes on
  // now.
  virtual std::optional<Promotion> next_promotion(const History& /*history*/, bool /*is_last*/) { return {}; }
};

}  // namespace trainwarden::tune
