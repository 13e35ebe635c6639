// StepPhases: charges the time between two events to what was open.
#include "step_phases.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace trainwarden::torch {
namespace {

constexpr std::size_t kMostOpen = 16;  // what is opened deeper counts as what it was opened in

}  // namespace

void StepPhases::begin(Phase phase, Time now) {
  if (evaluating_ || open_.size() == kMostOpen) return;
  settle(now);
  open_.push_back(phase);
}

void StepPhases::end(Phase phase, Time now) {
  const auto found = std::find(open_.rbegin(), open_.rend(), phase);
  if (found == open_.rend()) return;
  settle(now);
  open_.erase(std::prev(found.base()), open_.end());
}

void StepPhases::capture_begins(Time now) {
  settle(now);
  capturing_ = true;
}

void StepPhases::capture_ends(Time now) {
  settle(now);
  capturing_ = false;
}

void StepPhases::evaluate(bool on, Time now) {
  if (on == evaluating_) return;
  settle(now);
  evaluating_ = on;
  open_.clear();
}

StepPhases::Spent StepPhases::take(Time now) {
  settle(now);
  open_.clear();
  return std::exchange(spent_, Spent{});
}

void StepPhases::settle(Time now) {
  Phase innermost = open_.empty() ? Phase::kRest : open_.back();
  if (evaluating_) innermost = Phase::kEvaluation;
  if (capturing_) innermost = Phase::kCapture;
  spent_[static_cast<std::size_t>(innermost)] += now - settled_;
  settled_ = now;
}

}  // namespace trainwarden::torch
