// PausedTrials: the trials of a study that stand at a rung, from the stop of their jobs until they go on or are given
// up.
//
// What is written comes before what is stopped, and what goes on before it is written: wherever it is killed, another
// one finds a paused trial, stops what runs of it, and promotes it as the history says.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "trainwarden/status.h"
#include "tune/conduct/conductor_notices.h"
#include "tune/conduct/trial_runner.h"
#include "tune/search/pruner.h"
#include "tune/study/study.h"

namespace trainwarden::tune {

// One thread at a time.
class PausedTrials {
 public:
  enum class Next : std::uint8_t { kNone, kPromoted, kStops };

  // All must outlive it; `pruner` may be null.
  PausedTrials(Study& study, TrialPruner* pruner, TrialRunner& runner, ConductorNotices notices);

  Status pause(std::size_t trial, const std::string& why);
  // Looks at the jobs that are to stop. One that came to its end before it was stopped has ended as it did.
  Status follow();
  std::size_t count() const { return paused().size(); }
  // How many have a job that has not stopped yet: it still has its place.
  std::size_t stopping() const;
  // Lets the next one go on, if there is one. kStops: its job has not stopped yet, it is the next one all the same.
  Result<Next> promote_next(const std::string& worker, bool is_last);
  // Those that will not go on any more are pruned.
  Status give_up(const std::string& why);

 private:
  enum class Rest : std::uint8_t { kStopping, kStands };

  std::vector<std::size_t> paused() const;
  Status follow(std::size_t trial);
  Status fail(std::size_t trial, const std::string& why);
  Status finish(std::size_t trial, TrialEnd end);
  void warn_of(const Status& status, const std::string& job) const;

  Study& study_;
  TrialPruner* pruner_;
  TrialRunner& runner_;
  ConductorNotices notices_;
  std::map<std::size_t, Rest> rests_;  // not there: nobody has asked its job to stop yet, as far as is known
};

}  // namespace trainwarden::tune
