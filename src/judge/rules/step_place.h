// StepPlace: a step of a run by all of its numbers, or a window of time after it.
#pragma once

#include <cstdint>
#include <string>

#include "trainwarden/mode.h"
#include "trainwarden/rule.h"
#include "trainwarden/trial.h"

namespace trainwarden::rules {

struct StepPlace {
  std::int64_t global_step = -1;
  Mode mode = Mode::kGlobal;
  std::int64_t mode_step = -1;
  // Of a verdict on a window of time, whose step is the last one that was complete before its end; both 0 otherwise.
  std::int64_t from_unix_ns = 0;
  std::int64_t to_unix_ns = 0;

  bool is_time() const { return to_unix_ns != 0; }
  friend bool operator==(const StepPlace&, const StepPlace&) = default;
};

StepPlace place_of(const StepWindow& window);
StepPlace place_of(const Trial& trial, std::int64_t global_step);
StepPlace place_of(const TimeWindow& window);

// "step 120 (train 100)", "step 120" when the program sets no mode; of a window of time its end,
// "2026-11-21 14:03:20 UTC (after step 120)".
std::string place_text(const StepPlace& place);

}  // namespace trainwarden::rules
