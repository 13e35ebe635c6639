#include "cli/step_phases.h"

#include "cli/capture.h"

namespace bert {
namespace {

double seconds_between(std::chrono::steady_clock::time_point begin, std::chrono::steady_clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

}  // namespace

void StepPhases::ended(std::string_view phase) {
  const Time now = std::chrono::steady_clock::now();
  auto found = seconds_.find(phase);
  if (found == seconds_.end()) found = seconds_.emplace(phase, 0).first;
  found->second += seconds_between(last_, now);
  last_ = now;
}

void StepPhases::save(trainwarden::Hook& hook) {
  ended("rest");
  const double whole = seconds_between(step_began_, last_);
  for (const auto& [phase, seconds] : seconds_) hook.save_scalar("phase/" + phase, seconds);
  hook.save_scalar(first_ ? "phase/start" : "phase/step", whole);
  save_signal(hook, "trainwarden/step_seconds", whole);
  seconds_.clear();
  step_began_ = last_;
  first_ = false;
}

}  // namespace bert
