// What the wall time of a train step was spent on (docs/format/phases.md), each moment in one phase.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>

#include "trainwarden/hook.h"

namespace bert {

// For the one thread that trains.
class StepPhases {
 public:
  // What has passed since the last call was this: "forward", "backward", ... as that document names them.
  void ended(std::string_view phase);

  // The step is over: captures its phases in the hook's current one, and begins the next.
  void save(trainwarden::Hook& hook);

 private:
  using Time = std::chrono::steady_clock::time_point;

  Time last_ = std::chrono::steady_clock::now();
  Time step_began_ = last_;
  bool first_ = true;
  std::map<std::string, double, std::less<>> seconds_;  // by phase
};

}  // namespace bert
