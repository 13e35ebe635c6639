// The study of ours that follows from one of Optuna's: what is searched, and what has happened.
#pragma once

#include <string>
#include <vector>

#include "tune/optuna/optuna_study.h"
#include "tune/study/study_event.h"
#include "tune/study/study_spec.h"

namespace trainwarden::tune {

struct PastStudy {
  StudySpec spec;  // open, and without a budget, so that objectives go on with it; `name` is the caller's
  std::vector<StudyEvent> events;
  std::size_t left_out = 0;  // trials that nobody had begun: Optuna keeps what they are to have apart
};

// - A parameter has the union of its ranges over all trials; it is logarithmic where all of them are. Choices are those
//   of all trials, in the order in which they come. All are optional: trials ask for them.
// - A trial that was running has failed with that reason. A complete one without a number of an objective has failed,
// too.
// - One objective is called "value", several value_0, value_1 and so on, unless somebody has named them; names that are
//   not in the order of the alphabet have their number before them.
// - Times are kept; where one is not known it is that of the trial before, or `now_unix_ns`.
// kFailedPrecondition: a name is a number in one trial and a choice in another; kResourceExhausted: there are more than
// kMaxParameters names, or a trial has more steps than a study of ours keeps.
Result<PastStudy> past_of(const OptunaStudy& study, std::int64_t now_unix_ns);

}  // namespace trainwarden::tune
