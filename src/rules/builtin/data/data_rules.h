// Rules about inputs, labels and predictions. One file each.
#pragma once

#include <vector>

#include "trainwarden/rule.h"

namespace trainwarden::rules {

std::vector<RuleKind> data_rules();

}  // namespace trainwarden::rules
