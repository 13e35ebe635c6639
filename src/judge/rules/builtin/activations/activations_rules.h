// Rules about what layers give: dead, saturated, badly initialised, collapsed. One file each.
#pragma once

#include <vector>

#include "trainwarden/rule.h"

namespace trainwarden::rules {

RuleKind activation_kurtosis();
RuleKind attention_collapse();
RuleKind dead_relu();
RuleKind poor_weight_initialization();
RuleKind representation_collapse();
RuleKind routing_concentration();
RuleKind saturated_activation();

std::vector<RuleKind> activations_rules();

}  // namespace trainwarden::rules
