// StepCycle: when does a step end in a training with several optimizers?
//
// When every optimizer in use has stepped, or before one steps a second time. In use are those that stepped in the step
// before, and those that were met since. Optimizers are told apart by their address, which is never followed.
#pragma once

#include <set>

namespace trainwarden::torch {

class StepCycle {
 public:
  void add(const void* optimizer);
  void remove(const void* optimizer);  // it will not step again

  bool ends_before_step_of(const void* optimizer) const;
  void has_stepped(const void* optimizer);
  bool is_complete() const;  // some stepped, and all in use
  void begin_step();

 private:
  std::set<const void*> in_use_;
  std::set<const void*> stepped_;  // in this step; all of them are in use
};

}  // namespace trainwarden::torch
