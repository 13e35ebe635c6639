// Rules about losses over the steps. One file each.
#pragma once

#include <vector>

#include "trainwarden/rule.h"

namespace trainwarden::rules {

RuleKind loss_not_decreasing();
RuleKind loss_spike();

std::vector<RuleKind> losses_rules();

}  // namespace trainwarden::rules
