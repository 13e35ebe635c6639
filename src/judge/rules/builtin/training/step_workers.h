// The workers that made a step: fewer than the run has, where some have died or were not started again.
#pragma once

#include <string>
#include <vector>

#include "trainwarden/rule.h"

namespace trainwarden::rules {

// By name. All workers of the run where nothing is known of who made the step.
inline std::vector<std::string> workers_of_step(const StepWindow& window) {
  std::vector<std::string> all = window.workers();
  std::vector<std::string> made;
  for (const std::string& worker : all) {
    if (window.ended_unix_ns(worker) != 0) made.push_back(worker);
  }
  return made.empty() ? all : made;
}

}  // namespace trainwarden::rules
