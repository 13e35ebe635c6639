// Rules about what the training does: its calls, modes, workers, memory, checkpoints. One file each.
#pragma once

#include <vector>

#include "trainwarden/rule.h"

namespace trainwarden::rules {

RuleKind call_order();
RuleKind hang();
RuleKind missing_zero_grad();
RuleKind stalled_training_rule();

std::vector<RuleKind> training_rules();

}  // namespace trainwarden::rules
