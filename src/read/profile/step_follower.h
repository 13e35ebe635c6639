// StepFollower: the train steps of a run's workers, how long each took and what its time was spent on, read on while
// the run grows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "read/profile/step_phases.h"
#include "trainwarden/status.h"
#include "trainwarden/trial.h"

namespace trainwarden::profile {

// One train step of one worker.
struct StepTime {
  std::int64_t global_step = 0;
  std::int64_t end_unix_ns = 0;
  float seconds = 0;      // since the end of the train step before
  float own_seconds = 0;  // without waits for other workers
};

// What a step's time was spent on. Valid during the call.
struct FollowedStep {
  const std::string& worker;
  StepTime time;
  const std::map<std::string, double>& seconds;  // by phase
};

// Steps of one worker that are remembered; of more, every other one is forgotten, again and again.
inline constexpr std::size_t kMaxRememberedSteps = std::size_t{1} << 20;
// Names of phases, and workers, that are read; a run has a dozen of the one.
inline constexpr std::size_t kMaxPhases = 64;
inline constexpr std::size_t kMaxFollowedWorkers = 1024;

// One thread at a time.
class StepFollower {
 public:
  struct Worker {
    std::string name;
    std::vector<StepTime> steps;                  // by rising global step
    std::size_t every = 1;                        // of so many one is remembered
    std::map<std::string, double> phase_seconds;  // over the divided steps
    std::map<std::string, double> totals;         // the newest, by what it is of
    std::size_t divided_steps = 0;
    double divided_seconds = 0;
    double start_seconds = -1;  // until the first step had ended; -1: not known
  };

  // Takes in complete steps up to `last_step` that have come since, worker by worker; each that was divided into phases
  // is given to `divided`. Train steps that were not written are known by `trainwarden/step_times` of those behind
  // them. A step that is written again (of a run that was resumed) counts once. Times that are no positive numbers are
  // left out. Errors as those of reading.
  Status refresh(Trial& trial, std::int64_t last_step = std::numeric_limits<std::int64_t>::max(),
                 const std::function<void(const FollowedStep&)>& divided = {});

  const std::vector<Worker>& workers() const { return workers_; }  // by rank
  // As step_phases().
  std::vector<WorkerPhases> phases() const;

 private:
  class WorkerReader;
  struct Names;
  // How far one worker was read.
  struct Place {
    std::size_t worker = 0;
    std::size_t steps = 0;                    // of its journal
    std::map<std::string, std::size_t> next;  // by tensor: where its next part begins
  };
  Place* place_of(const std::string& worker);  // null: there are too many

  std::vector<Worker> workers_;
  std::vector<Place> places_;
};

}  // namespace trainwarden::profile
