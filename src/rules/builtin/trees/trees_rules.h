// Rules about boosted trees. One file each.
#pragma once

#include <vector>

#include "trainwarden/rule.h"

namespace trainwarden::rules {

std::vector<RuleKind> trees_rules();

}  // namespace trainwarden::rules
