// How many samples a step's batch has: labels and predictions that are more are not one for each sample.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "judge/rules/step_statistics.h"
#include "trainwarden/collection.h"

namespace trainwarden::rules {

// By the indices of the data loader, else by the first dimension of what goes into the outermost model. None when
// neither is known.
std::optional<std::int64_t> sample_count(const std::string& worker, const StepWindow& window);
Collection need_batch_shapes(std::int64_t save_interval);  // for it

}  // namespace trainwarden::rules
