// Idle steps: for adapters in which a step must cost next to nothing while nothing of it is wanted.
#pragma once

#include "trainwarden/hook.h"

namespace trainwarden::capture {

// Ends the step, as Hook::end_step() does and in the same thread, when that is nothing but counting: nothing is wanted
// of it nor of the next one, and nobody has asked for anything. False: it has not ended, and end_step() is to be
// called. Costs a few comparisons.
bool end_idle_step(Hook& hook);

}  // namespace trainwarden::capture
