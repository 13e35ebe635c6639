// Rules about what layers give: dead, saturated, badly initialised, collapsed. One file each.
#pragma once

#include <vector>

#include "trainwarden/rule.h"

namespace trainwarden::rules {

std::vector<RuleKind> activations_rules();

}  // namespace trainwarden::rules
