// ConductorNotices: what happens to the trials of a study, for people.
#pragma once

#include <cstddef>
#include <functional>

#include "trainwarden/status.h"

namespace trainwarden::tune {

// All may be empty.
struct ConductorNotices {
  std::function<void(std::size_t trial)> started;  // also of one that goes on
  std::function<void(std::size_t trial)> ended;    // also without having run, when its result was known
  std::function<void(std::size_t trial)> paused;
  std::function<void(const Status&)> trouble;  // which passes, or costs a trial
};

}  // namespace trainwarden::tune
