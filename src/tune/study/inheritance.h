// Inheritance: what a study takes over from the studies that it starts from, so that its samplers begin with what is
// known already.
//
// Of each study the finished trials that fit this one's space. What is missing of a parameter there is filled with its
// `first` value here, which says what the other study ran with; a trial fits where then each active parameter has a
// value in its range and there is no other parameter. Metrics that count here must be there, with the same goal. The
// curve of a trial that was pruned is its last point. Repeats, and what that study has inherited itself, are left out.
#pragma once

#include <functional>
#include <vector>

#include "tune/study/study_event.h"
#include "tune/study/study_spec.h"
#include "tune/study/study_state.h"

namespace trainwarden::tune {

inline constexpr std::size_t kMaxInherited = 10'000;

// A study that another one starts from.
struct Origin {
  const StudySpec& spec;
  const StudyState& state;
};

// Events for the study's log, which `stamp` begins. Of many trials the newest, each study with an equal share of
// kMaxInherited. kInvalidArgument: a metric is missing in a study or has another goal there, or none of its trials
// fits, with what is wrong with the newest.
Result<std::vector<StudyEvent>> inherited_events(const StudySpec& spec, const std::vector<Origin>& origins,
                                                 const std::function<StudyEvent()>& stamp);

}  // namespace trainwarden::tune
