// What the data loader's batches of a step were found to hold, as the signal trainwarden/batch/bad_samples says.
#pragma once

#include <string>
#include <vector>

#include "judge/diagnosis/bad_samples.h"
#include "trainwarden/rule.h"

namespace trainwarden::rules {

// Those of this worker with values that are not finite. None where the step has no such signal, or none that can be
// read.
std::vector<diagnosis::BadBatch> not_finite_batches(const std::string& worker, const StepWindow& window);

}  // namespace trainwarden::rules
