// Rules about what layers give: dead, saturated, badly initialised, collapsed. One file each.
#pragma once

#include <vector>

#include "trainwarden/rule.h"

namespace trainwarden::rules {

RuleKind dead_relu();
RuleKind saturated_activation();

std::vector<RuleKind> activations_rules();

}  // namespace trainwarden::rules
