// Waits for a trial that still gains.
#pragma once

#include <cstdint>
#include <memory>

#include "tune/search/pruner.h"

namespace trainwarden::tune {

struct PatientOptions {
  std::int64_t patience = 1;  // in steps, at least 1; not in reports as with Optuna, for series are thinned
  double min_delta = 0;       // what is better by no more is no gain
};

// "patient": nothing is pruned while the best value of the first objective in the last `patience` steps is better, by
// more than min_delta, than the best before them. (Optuna's takes a plateau for a gain; this does not.) After that
// `wrapped` decides; without it, the trial is pruned.
// Needs a finite value that is at least `patience` steps older than the newest, and what the wrapped one needs.
std::unique_ptr<TrialPruner> make_patient_pruner(const PatientOptions& options, std::unique_ptr<TrialPruner> wrapped);

}  // namespace trainwarden::tune
