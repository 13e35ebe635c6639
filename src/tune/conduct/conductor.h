// Conductor: runs the trials of a study, so many at once, until it ends.
//
// All that it knows lies in the study: killed at any moment, another one goes on, and no trial is started twice.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/base/clock.h"
#include "store/storage/lease.h"
#include "trainwarden/status.h"
#include "tune/conduct/conductor_notices.h"
#include "tune/conduct/paused_trials.h"
#include "tune/conduct/trial_runner.h"
#include "tune/search/pruner.h"
#include "tune/search/sampler.h"
#include "tune/study/study.h"

namespace trainwarden::tune {

// One thread at a time.
class Conductor {
 public:
  // All must outlive it; `pruner` may be null. kAlreadyExists when another process conducts the study.
  static Result<Conductor> take(Study& study, TrialSampler& sampler, TrialPruner* pruner, TrialRunner& runner,
                                const Clock& clock, ConductorNotices notices = {});

  // Looks at each trial that runs, lets paused ones go on, and starts others. Call it now and then.
  Status step();
  // No trial runs or is paused, and none is to come.
  bool is_over() const { return drained_ && open_ == 0; }
  const std::string& why_over() const { return why_over_; }  // why no more trials come
  // Stops all trials that run; they have failed. The study stays open, so that it can go on.
  Status stop_all(const std::string& why);

 private:
  Conductor(Study& study, TrialSampler& sampler, TrialPruner* pruner, TrialRunner& runner, ConductorNotices notices,
            std::unique_ptr<storage::Lease> lease);
  Status follow(std::size_t trial);
  Status report_new(std::size_t trial, const TrialLook& look);
  Status end_trial(std::size_t trial, TrialEnd end, const TrialLook& look);
  Status start_trials();
  Result<bool> start_another();
  Status start_trial(std::int64_t trial);
  std::string worker() const;
  std::vector<std::size_t> running() const;

  Study& study_;
  TrialSampler& sampler_;
  TrialPruner* pruner_;
  TrialRunner& runner_;
  ConductorNotices notices_;
  std::unique_ptr<storage::Lease> lease_;
  PausedTrials paused_;
  std::size_t open_ = 0;  // trials that run or are paused
  bool drained_ = false;
  std::string why_over_;
};

// "squad-12", of its second attempt "squad-12-2".
std::string job_of_trial(const std::string& study, std::int64_t trial, int attempt);

}  // namespace trainwarden::tune
