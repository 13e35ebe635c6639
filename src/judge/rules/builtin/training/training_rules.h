// Rules about what the training does: its calls, modes, workers, memory, checkpoints. One file each.
#pragma once

#include <vector>

#include "trainwarden/rule.h"

namespace trainwarden::rules {

RuleKind amp_overflow();
RuleKind call_order();
RuleKind checkpoint_integrity();
RuleKind diagnosis_of_training();
RuleKind forgotten_parameter();
RuleKind hang();
RuleKind memory_leak();
RuleKind missing_zero_grad();
RuleKind mode_mistake();
RuleKind replica_divergence();
RuleKind stalled_training_rule();
RuleKind straggler();
RuleKind target_reached();

std::vector<RuleKind> training_rules();

}  // namespace trainwarden::rules
