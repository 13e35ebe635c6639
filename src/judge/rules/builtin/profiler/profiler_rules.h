// Rules about where the time goes. One file each.
#pragma once

#include <vector>

#include "trainwarden/rule.h"

namespace trainwarden::rules {

RuleKind input_bound();

std::vector<RuleKind> profiler_rules();

}  // namespace trainwarden::rules
