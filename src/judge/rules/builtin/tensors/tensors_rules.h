// Rules about any tensor: values that are not numbers, or soon will not be, all zero, unchanged, the same in two runs.
// One file each.
#pragma once

#include <vector>

#include "trainwarden/rule.h"

namespace trainwarden::rules {

RuleKind all_zero();
RuleKind exploding_tensor();
RuleKind overflow_risk();
RuleKind similar_across_runs();
RuleKind tensor_variance();
RuleKind unchanged_tensor();

std::vector<RuleKind> tensors_rules();

}  // namespace trainwarden::rules
