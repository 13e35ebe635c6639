// Recorded parameters: those that the rules of a run were given when it was judged.
#pragma once

#include "trainwarden/trial.h"
#include "ui/views/profile/profile_judge.h"

namespace trainwarden::views {

// Of each rule by its name, by the newest engine that judged with it; those of ProfilerReport belong to the rules that
// it asks, and go before their own. A rule that was given none, or that cannot be read, has none.
ParametersOfRules recorded_parameters(const Trial& trial);

}  // namespace trainwarden::views
