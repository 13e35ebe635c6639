// What people should know before they compare the trials of a study.
#pragma once

#include <string>
#include <vector>

#include "tune/study/study_spec.h"
#include "tune/study/study_state.h"

namespace trainwarden::tune {

// Each a sentence without a full stop: trials that ran with different code or data (repeats.h), and a budget that can
// never end the study.
std::vector<std::string> study_warnings(const StudySpec& spec, const StudyState& state);

}  // namespace trainwarden::tune
