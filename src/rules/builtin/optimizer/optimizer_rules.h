// Rules about gradients, weights and what the optimizer makes of them. One file each.
#pragma once

#include <vector>

#include "trainwarden/rule.h"

namespace trainwarden::rules {

RuleKind gradient_spike();
RuleKind non_finite_origin();
RuleKind vanishing_gradient();

std::vector<RuleKind> optimizer_rules();

}  // namespace trainwarden::rules
