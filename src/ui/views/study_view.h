// A study as people and programs look at it: what was found, against what was asked for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/format/json.h"
#include "tune/study/study.h"

namespace trainwarden::views {

struct StudyOutcome {
  bool has_target = false;
  bool is_met = false;
  // Of one objective the best trial that meets the constraints; where none does, the nearest, which `is_feasible` says.
  std::optional<std::size_t> best;
  bool is_feasible = false;
  std::vector<std::size_t> front;  // of several objectives
};
StudyOutcome outcome_of(const tune::Study& study);

// One sentence, without a full stop: whether the target is met comes first.
std::string outcome_text(const tune::Study& study);
// "running", "ended: its 40 trials have been made", "waiting"
std::string standing_text(const tune::Study& study, std::int64_t now_unix_ns);
// "learning_rate=3e-05 optimizer=adam"
std::string values_text(const tune::TriedValues& values);

// Of each metric's steps no more than so many (thinned_steps.h); 0: all.
format::OrderedJson trial_json(const tune::Study& study, std::size_t trial, std::size_t most_steps = 0);
// {"study", "made_unix_ns", "state", "outcome", "counts", "inherited", "warnings", "damaged"}
format::OrderedJson study_head_json(const tune::Study& study, std::int64_t now_unix_ns);
// What is searched, with the parameters that trials have asked for.
format::OrderedJson study_spec_json(const tune::Study& study);
// The same as of the head, with "spec" and "trials"
format::OrderedJson study_json(const tune::Study& study, std::int64_t now_unix_ns);

}  // namespace trainwarden::views
