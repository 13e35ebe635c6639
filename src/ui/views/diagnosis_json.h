// A diagnosis as JSON, and the words of its causes.
#pragma once

#include <string>

#include "data/format/json.h"
#include "judge/diagnosis/diagnosis.h"

namespace trainwarden::views {

// Of the catalogue of causes; for a cause that is not in it, its name and nothing.
std::string title_of(const diagnosis::CauseFinding& finding);
std::string next_step_of(const diagnosis::CauseFinding& finding);

// {"diagnosis", "findings", "consequences", "apart", "missing", "doubt", "alarms", "failure", "steps",
// "examined_steps", "examination_seconds", "loss"}. `failure`: as failure_of() says it; null in JSON where it is empty.
format::OrderedJson json_of(const diagnosis::Diagnosis& diagnosis, const std::string& failure);

}  // namespace trainwarden::views
