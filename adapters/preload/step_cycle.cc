// StepCycle: who has stepped.
#include "step_cycle.h"

#include <utility>

namespace trainwarden::torch {

void StepCycle::add(const void* optimizer) {
  in_use_.insert(optimizer);
}

void StepCycle::remove(const void* optimizer) {
  in_use_.erase(optimizer);
  stepped_.erase(optimizer);
}

bool StepCycle::ends_before_step_of(const void* optimizer) const {
  return stepped_.contains(optimizer);
}

void StepCycle::has_stepped(const void* optimizer) {
  in_use_.insert(optimizer);
  stepped_.insert(optimizer);
}

bool StepCycle::is_complete() const {
  return !stepped_.empty() && stepped_.size() == in_use_.size();
}

void StepCycle::begin_step() {
  in_use_ = std::exchange(stepped_, {});
}

}  // namespace trainwarden::torch
