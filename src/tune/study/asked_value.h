// What a trial gets that asks for a parameter while it runs.
#pragma once

#include "tune/study/study_state.h"

namespace trainwarden::tune {

// The value that it has already where that fits what is asked for, else the one that somebody named before, else one
// that is drawn. kInvalidArgument: what is asked for is no parameter.
Result<TriedValue> asked_value(const StudyState& state, std::int64_t trial, const Hyperparameter& asked);

// Is it as it stands: has the trial this value, of a parameter whose range has all that is asked for?
bool has_value(const StudyState& state, std::int64_t trial, const Hyperparameter& asked, const TriedValue& value);

}  // namespace trainwarden::tune
