// StepPlace: a step of a run by all of its numbers.
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
  friend bool operator==(const StepPlace&, const StepPlace&) = default;
};

StepPlace place_of(const StepWindow& window);
StepPlace place_of(const Trial& trial, std::int64_t global_step);

std::string step_text(const StepPlace& place);  // "step 120 (train 100)", "step 120" when the program sets no mode

}  // namespace trainwarden::rules
