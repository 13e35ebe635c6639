// What a trial has measured when it ends.
#pragma once

#include "tune/conduct/trial_runner.h"
#include "tune/search/history.h"
#include "tune/study/study.h"

namespace trainwarden::tune {

// The end has the last value of each metric that it does not name. A complete trial without a metric that counts has
// failed, and says what it has in its place.
void complete_trial(const History& history, const TrialLook& look, TrialEnd& end);

// A trial as the history has it: its series alone.
TrialLook last_look(const History& history, std::size_t trial);

}  // namespace trainwarden::tune
