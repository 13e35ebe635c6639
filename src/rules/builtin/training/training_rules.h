// Rules about what the training does: its calls, modes, workers, memory, checkpoints. One file each.
#pragma once

#include <vector>

#include "trainwarden/rule.h"

namespace trainwarden::rules {

std::vector<RuleKind> training_rules();

}  // namespace trainwarden::rules
