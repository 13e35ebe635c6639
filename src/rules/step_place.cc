#include "rules/step_place.h"

#include <fmt/format.h>

namespace trainwarden::rules {

StepPlace place_of(const Trial& trial, std::int64_t global_step) {
  return {global_step, trial.mode_of(global_step).value_or(Mode::kGlobal),
          trial.mode_step_of(global_step).value_or(global_step)};
}

StepPlace place_of(const StepWindow& window) {
  return {window.global_step(), window.mode(), window.mode_step()};
}

std::string step_text(const StepPlace& place) {
  if (place.mode == Mode::kGlobal) return fmt::format("step {}", place.global_step);
  return fmt::format("step {} ({} {})", place.global_step, name(place.mode), place.mode_step);
}

}  // namespace trainwarden::rules
