// RecurringPhase: what a phase costs that comes now and then, as evaluation does, counted in whole cycles.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "judge/rules/builtin/profiler/phase_shares.h"

namespace trainwarden::rules {

struct Recurrence {
  std::string worker;  // that spends the most on it: the others wait for it
  ShareRange share;    // of the wall time until its last time was over
  std::uint64_t times = 0;
  double seconds_each = 0;  // mean
  double steps_apart = 0;   // mean train steps from one to the next
};

class RecurringPhase {
 public:
  explicit RecurringPhase(Phase phase) : phase_(phase) {}

  // After `shares` has taken the step.
  void take(const PhaseShares& shares);
  // None before its second time.
  std::optional<Recurrence> found() const;

 private:
  struct OfWorker {
    double seconds = 0;       // until now, as far as they are known
    double first_steps = -1;  // train steps when it first came
    double last_steps = 0;
    Recurrence newest;
  };
  double seconds_of(const TimedStep& step, const OfWorker& worker) const;

  const Phase phase_;
  double steps_ = 0;  // train steps seen, where they are not counted by the run
  std::map<std::string, OfWorker> workers_;
};

}  // namespace trainwarden::rules
