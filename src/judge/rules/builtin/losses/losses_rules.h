// Rules about losses over the steps. One file each.
#pragma once

#include <vector>

#include "trainwarden/rule.h"

namespace trainwarden::rules {

RuleKind divergence();
RuleKind initial_loss();
RuleKind logit_drift();
RuleKind loss_drift();
RuleKind loss_not_decreasing();
RuleKind loss_spike();
RuleKind overfit();
RuleKind overtraining();

std::vector<RuleKind> losses_rules();

}  // namespace trainwarden::rules
