// Rules about gradients, weights and what the optimizer makes of them. One file each.
#pragma once

#include <vector>

#include "trainwarden/rule.h"

namespace trainwarden::rules {

RuleKind adam_epsilon();
RuleKind clipping_always();
RuleKind gradient_by_depth();
RuleKind gradient_spike();
RuleKind learning_rate_jump();
RuleKind no_op_update();
RuleKind non_finite_origin();
RuleKind vanishing_gradient();
RuleKind weight_update_ratio();

std::vector<RuleKind> optimizer_rules();

}  // namespace trainwarden::rules
