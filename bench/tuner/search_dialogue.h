// A search by lines of JSON, each answered by one: for what is evaluated elsewhere (tables.py).
//
//   a study (docs/reference/tune.md), first           {}
//   {"ask": true}                                     {"trial": 0, "values": {"rate": 0.01}}, or {"end": "why"} where
//   no
//                                                     trial is left
//   {"trial": 0, "step": 3, "value": 0.5}             {"prune": false}; true: the trial has ended, pruned
//   {"trial": 0, "value": 0.4}                        {}; the trial is complete. null: it has failed
//
// A value is that of the first metric. The histories are those of studies, without their files.
#pragma once

#include <iosfwd>

#include "trainwarden/status.h"

namespace trainwarden::bench {

// Until `questions` end. kInvalidArgument, or what the study or the sampler says: it ends there.
Status run_dialogue(std::istream& questions, std::ostream& answers);

}  // namespace trainwarden::bench
