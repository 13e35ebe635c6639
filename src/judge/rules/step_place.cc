#include "judge/rules/step_place.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/rfc3339.h"

namespace trainwarden::rules {

StepPlace place_of(const Trial& trial, std::int64_t global_step) {
  return {global_step, trial.mode_of(global_step).value_or(Mode::kGlobal),
          trial.mode_step_of(global_step).value_or(global_step)};
}

StepPlace place_of(const StepWindow& window) {
  return {window.global_step(), window.mode(), window.mode_step()};
}

StepPlace place_of(const TimeWindow& window) {
  StepPlace place = window.last_step < 0 ? StepPlace() : place_of(window.trial, window.last_step);
  place.from_unix_ns = window.from_unix_ns;
  place.to_unix_ns = window.to_unix_ns;
  return place;
}

namespace {

std::string text_of_step(const StepPlace& place) {
  if (place.mode == Mode::kGlobal) return fmt::format("step {}", place.global_step);
  return fmt::format("step {} ({} {})", place.global_step, name(place.mode), place.mode_step);
}

}  // namespace

std::string place_text(const StepPlace& place) {
  if (!place.is_time()) return text_of_step(place);
  std::string text = format_rfc3339(place.to_unix_ns, 0);  // "2026-11-21T14:03:20Z"
  std::replace(text.begin(), text.end(), 'T', ' ');
  text.pop_back();
  text += " UTC";
  return place.global_step < 0 ? text : fmt::format("{} (after {})", text, text_of_step(place));
}

}  // namespace trainwarden::rules
